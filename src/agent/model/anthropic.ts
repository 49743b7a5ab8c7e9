import type Anthropic from "@anthropic-ai/sdk";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { TroupeError } from "../../util/errors.js";
import { requestFailure, streamFailure, toModelError } from "./anthropic-errors.js";
import { withCacheBreakpoints } from "./cache-breakpoints.js";
import { createIdleSignal } from "./idle-signal.js";
import { type ModelClient, ModelError, type ModelRequest } from "./types.js";

export interface AnthropicOptions {
  readonly apiKey?: string;
  /** A bearer token, as gateways give them out; ignored where there is a key. */
  readonly authToken?: string;
  /** Any server that speaks the Messages API; without it, the vendor's own. */
  readonly baseUrl?: string;
  /** What is shown to people for the model's name. */
  readonly label: string;
  /** A stream without any event, pings included, for so long counts as lost. Default 120,000. */
  readonly idleTimeoutMs?: number;
}

const vendorUrl = "https://api.anthropic.com";

/** The options that an environment asks for: `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `ANTHROPIC_BASE_URL`. */
export function anthropicOptions(
  env: Readonly<Record<string, string | undefined>>,
): Pick<AnthropicOptions, "apiKey" | "authToken" | "baseUrl"> {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL: baseUrl } = env;
  return { ...(apiKey && { apiKey }), ...(authToken && { authToken }), ...(baseUrl && { baseUrl }) };
}

/**
 * A model behind the Messages API. The SDK is loaded with the first request; its retries, logging and tracing are off,
 * and it takes no credentials but those given. A server at a `baseUrl` may do without any; the vendor's needs some:
 * TroupeError `no-credentials`.
 */
export function createAnthropicModel(options: AnthropicOptions): ModelClient {
  const { apiKey, authToken, baseUrl = vendorUrl, label, idleTimeoutMs = 120_000 } = options;
  if (apiKey === undefined && authToken === undefined && options.baseUrl === undefined)
    throw new TroupeError("no-credentials", "there is no key for the model", {
      kind: "usage",
      remedy: "set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or use the offline model",
    });
  const secrets = [apiKey, authToken].filter((secret): secret is string => Boolean(secret));
  let loaded: Promise<Sdk> | undefined;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<RawMessageStreamEvent> {
    const lost = new ModelError("connection", `${baseUrl} sent nothing for ${idleTimeoutMs / 1000} s`, {
      retryable: true,
    });
    const idle = createIdleSignal(idleTimeoutMs, lost);
    try {
      loaded ??= loadSdk({ ...options, baseUrl });
      const { client, events } = await loaded;
      const response = await client.messages
        .create(
          { ...withCacheBreakpoints(request), stream: true },
          { signal: AbortSignal.any([signal, idle.signal]) },
        )
        .asResponse();
      const type = response.headers.get("content-type") ?? "no content type";
      if (!type.startsWith("text/event-stream")) {
        await response.body?.cancel();
        throw streamFailure(`${baseUrl} answered with ${type} instead of an event stream`);
      }
      for await (const { event, data } of events(response)) {
        idle.touch();
        if (event === "error") throw requestFailure(data, secrets);
        if (event !== null && event !== "ping" && data !== "") yield parseEvent(data);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (idle.signal.aborted) throw lost;
      throw toModelError(error, baseUrl, secrets);
    } finally {
      idle.end();
    }
  }

  return { label, scripted: false, stream };
}

interface Sdk {
  readonly client: Anthropic;
  readonly events: (response: Response) => AsyncIterable<{ event: string | null; data: string }>;
}

async function loadSdk({ apiKey, authToken, baseUrl }: AnthropicOptions & { baseUrl: string }): Promise<Sdk> {
  const [{ default: Anthropic }, { Stream }] = await Promise.all([
    import("@anthropic-ai/sdk"),
    import("@anthropic-ai/sdk/core/streaming"),
  ]);
  const keyless = apiKey === undefined && authToken === undefined;
  const client = new Anthropic({
    baseURL: baseUrl,
    ...(apiKey === undefined ? { authToken: authToken ?? "" } : { apiKey }),
    // Without any credential the SDK would look for a login in the home directory.
    ...(keyless ? { defaultHeaders: { authorization: null } } : {}),
    maxRetries: 0,
    logLevel: "off",
    openTelemetry: false,
  });
  return { client, events: (response) => Stream.rawEvents(response) };
}

function parseEvent(data: string): RawMessageStreamEvent {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (error) {
    throw streamFailure("an event of the stream is not JSON", error);
  }
  if (typeof event !== "object" || event === null || !("type" in event) || typeof event.type !== "string")
    throw streamFailure("an event of the stream has no type");
  return event as RawMessageStreamEvent;
}
