declare const __TROUPE_VERSION__: string | undefined;

/** The version of this package; put in by the build, `0.0.0-source` where the sources run as they are. */
export const version: string = typeof __TROUPE_VERSION__ === "string" ? __TROUPE_VERSION__ : "0.0.0-source";
