export { version } from "./util/version.js";
