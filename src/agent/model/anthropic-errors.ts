import { messageOf } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { ModelError, type ModelErrorCode } from "./types.js";

/** An answer that is not a Messages API stream. Sending the request again would not help. */
export function streamFailure(message: string, cause?: unknown): ModelError {
  return new ModelError("protocol", message, { retryable: false, cause });
}

/** The error that a server reports inside a stream that had begun well; `data` is the event's JSON. */
export function requestFailure(data: string, secrets: readonly string[]): ModelError {
  const { type, message } = errorBody(parsed(data));
  return classify(undefined, type, clean(message || data, secrets), undefined);
}

/**
 * Whatever the SDK or the connection threw, as a ModelError. `secrets` are taken out of its text: some servers repeat
 * a wrong key in their answer.
 */
export function toModelError(error: unknown, baseUrl: string, secrets: readonly string[]): ModelError {
  if (error instanceof ModelError) return error;
  if (isStatusError(error)) {
    const { type, message } = errorBody(error.error);
    return classify(
      error.status,
      type,
      clean(message || error.message, secrets),
      retryAfter(error.headers),
      error,
    );
  }
  const reason = clean(rootMessage(error), secrets);
  return new ModelError("connection", `the connection to ${baseUrl} failed: ${reason}`, {
    retryable: true,
    cause: error,
  });
}

/** One line of a server's text, without the secrets. */
function clean(text: string, secrets: readonly string[]): string {
  return oneLine(
    secrets.reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text),
    500,
  );
}

function classify(
  status: number | undefined,
  type: string,
  message: string,
  retryAfterMs: number | undefined,
  cause?: unknown,
): ModelError {
  const [code, retryable, remedy] = verdict(status, type, message);
  const shown = status === undefined ? type || "error" : String(status);
  return new ModelError(
    code,
    `${headline[code]} (${shown}: ${message})${remedy === "" ? "" : `; ${remedy}`}`,
    {
      retryable,
      cause,
      ...(status === undefined ? {} : { status }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
}

const headline: Readonly<Record<ModelErrorCode, string>> = {
  auth: "the model server did not accept the credentials",
  "rate-limit": "the model server limits the rate of requests",
  overloaded: "the model server is overloaded",
  "too-long": "the conversation is too long for the model",
  "bad-request": "the model server refused the request",
  server: "the model server failed",
  connection: "the connection to the model server failed",
  protocol: "the model server's answer makes no sense",
  "max-tokens": "the output limit was reached",
  script: "the script failed",
};

function verdict(
  status: number | undefined,
  type: string,
  message: string,
): readonly [code: ModelErrorCode, retryable: boolean, remedy: string] {
  if (status === 401 || status === 403 || /^(authentication|permission)_error$/.test(type))
    return ["auth", false, "check the key and the base URL (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL)"];
  if (status === 429 || type === "rate_limit_error") return ["rate-limit", true, ""];
  if (status === 529 || type === "overloaded_error") return ["overloaded", true, ""];
  if (
    status === 413 ||
    type === "request_too_large" ||
    /prompt is too long|context (window|length)/i.test(message)
  )
    return ["too-long", false, "start a new conversation"];
  if (status === 404 || type === "not_found_error")
    return ["bad-request", false, "check the model's name and the base URL"];
  if (status === 408 || status === 409 || (status ?? 0) >= 500 || /^(api|timeout)_error$/.test(type))
    return ["server", true, ""];
  return ["bad-request", false, ""];
}

interface StatusError {
  readonly status: number;
  readonly message: string;
  readonly headers: Headers | undefined;
  readonly error: unknown;
}

function isStatusError(error: unknown): error is StatusError {
  return (
    error instanceof Error && "status" in error && typeof error.status === "number" && "headers" in error
  );
}

function errorBody(body: unknown): { readonly type: string; readonly message: string } {
  const inner = field(body, "error") ?? body;
  const [type, message] = [field(inner, "type"), field(inner, "message")];
  return { type: typeof type === "string" ? type : "", message: typeof message === "string" ? message : "" };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The server's wait in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const value = headers?.get("retry-after") ?? "";
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
  const wait = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** The innermost cause says what happened (`connect ECONNREFUSED …`); the outer ones say "fetch failed". */
function rootMessage(error: unknown): string {
  let root = error;
  for (let depth = 0; depth < 5 && root instanceof Error && root.cause !== undefined; depth++)
    root = root.cause;
  if (root instanceof AggregateError && root.errors.length > 0) root = root.errors[0];
  return messageOf(root) || messageOf(error);
}
