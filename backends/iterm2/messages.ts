import type { Root } from "protobufjs/light.js";

/** A pane as a list of sessions names it. Sizes are in cells. */
export interface SessionSummary {
  readonly id?: string;
  readonly title?: string;
  readonly grid?: { readonly width?: number; readonly height?: number };
}

/** How a tab is divided: each link is a session or a node that is divided further. */
export interface SplitNode {
  readonly links: readonly { readonly session?: SessionSummary; readonly node?: SplitNode }[];
}

/** One key of a profile with its value in JSON. */
export interface ProfileProperty {
  readonly key: string;
  readonly json: string;
}

/** What may be asked, by the name of the request. */
export interface Requests {
  readonly buffer: { readonly session: string; readonly lines: { readonly trailing: number } };
  readonly notify: { readonly session?: string; readonly subscribe: boolean; readonly type: number };
  readonly profile: { readonly session: string; readonly assignments: readonly ProfileProperty[] };
  readonly list: object;
  readonly text: { readonly session: string; readonly text: string; readonly alone: boolean };
  readonly tab: {
    readonly window?: string;
    readonly index?: number;
    readonly properties: readonly ProfileProperty[];
    readonly select: boolean;
  };
  readonly split: {
    readonly session: string;
    readonly direction: "VERTICAL" | "HORIZONTAL";
    readonly before: boolean;
    readonly properties: readonly ProfileProperty[];
  };
  readonly activate: {
    readonly session: string;
    readonly orderFront: boolean;
    readonly selectTab: boolean;
    readonly selectSession: boolean;
    readonly app?: { readonly ignoringOthers: boolean };
  };
  readonly variable: {
    readonly session?: string;
    readonly tab?: string;
    readonly set?: readonly { readonly name: string; readonly json: string }[];
    readonly get?: readonly string[];
  };
  readonly close: { readonly sessions: { readonly ids: readonly string[] }; readonly force: boolean };
}

/** What is answered. A status is the API's own word for it; a missing one means `OK`. */
export interface Answers {
  readonly buffer: {
    readonly status?: string;
    readonly range?: { readonly location?: number };
    readonly contents: readonly { readonly text?: string }[];
    readonly cursor?: { readonly x?: number; readonly y?: number };
  };
  readonly notify: { readonly status?: string };
  readonly profile: { readonly status?: string };
  readonly list: {
    readonly windows: readonly {
      readonly id?: string;
      readonly tabs: readonly {
        readonly id?: string;
        readonly root?: SplitNode;
        /** Behind one that is maximized. */
        readonly minimized: readonly SessionSummary[];
      }[];
    }[];
    readonly buried: readonly SessionSummary[];
  };
  readonly text: { readonly status?: string };
  readonly tab: { readonly status?: string; readonly session?: string };
  readonly split: { readonly status?: string; readonly sessions: readonly string[] };
  readonly activate: { readonly status?: string };
  readonly variable: { readonly status?: string; readonly values: readonly string[] };
  readonly close: { readonly statuses: readonly string[] };
}

export type RequestName = keyof Requests;

/** What is told without having been asked for each time. */
export interface News {
  readonly terminated?: { readonly session?: string };
}

/** A message of the server: the answer to the request with this id, a refusal of it, or news that nobody asked for. */
export type ServerMessage = {
  readonly id?: number;
  readonly error?: string;
  readonly news?: News;
} & { readonly [Name in RequestName]?: Answers[Name] };

/** The kind of news that tells that a session has ended, as its number in the API. */
export const sessionEnded = 7;

/** Writes and reads the messages of the API. */
export interface Codec {
  encode<Name extends RequestName>(id: number, name: Name, request: Requests[Name]): Uint8Array;
  /** Throws where the bytes are no message. */
  decode(bytes: Uint8Array): ServerMessage;
}

/** Loads the protobuf library, and gives a codec made with it. */
export async function loadCodec(): Promise<Codec> {
  const { default: protobuf } = await import("protobufjs/light.js");
  // By this edition's rules a false or a zero is sent and told, and a status that is not known here is not taken for none.
  const api = { edition: "2023", fields: {}, nested: { ...messageTypes(), ...enumTypes() } };
  const root: Root = protobuf.Root.fromJSON({ nested: { Api: api } });
  const client = root.lookupType("Api.Client");
  const server = root.lookupType("Api.Server");
  return {
    encode: (id, name, request) => client.encode(client.fromObject({ id, [name]: request })).finish(),
    decode: (bytes) =>
      server.toObject(server.decode(bytes), { longs: Number, enums: String, arrays: true }) as ServerMessage,
  };
}

/** The part of the API that is used: number, type (`*`: repeated) and our name of each field. */
const fieldsOf: Readonly<Record<string, string>> = {
  Client:
    "1 int64 id, 100 BufferRequest buffer, 103 NotifyRequest notify, 105 ProfileRequest profile, 106 ListRequest list, 107 TextRequest text, 108 TabRequest tab, 109 SplitRequest split, 114 ActivateRequest activate, 115 VariableRequest variable, 131 CloseRequest close",
  Server:
    "1 int64 id, 2 string error, 100 BufferAnswer buffer, 103 NotifyAnswer notify, 105 ProfileAnswer profile, 106 ListAnswer list, 107 TextAnswer text, 108 TabAnswer tab, 109 SplitAnswer split, 114 ActivateAnswer activate, 115 VariableAnswer variable, 131 CloseAnswer close, 1000 News news",

  ListRequest: "",
  ListAnswer: "1 *Window windows, 2 *Session buried",
  Window: "1 *Tab tabs, 2 string id",
  Tab: "3 Node root, 2 string id, 6 *Session minimized",
  Node: "1 bool vertical, 2 *Link links",
  Link: "1 Session session, 2 Node node",
  Session: "1 string id, 3 Size grid, 4 string title",
  Size: "1 int32 width, 2 int32 height",

  Property: "1 string key, 2 string json",
  SplitRequest: "1 string session, 2 Direction direction, 3 bool before, 5 *Property properties",
  SplitAnswer: "1 SplitStatus status, 2 *string sessions",
  TabRequest: "2 string window, 3 uint32 index, 5 *Property properties, 6 bool select",
  TabAnswer: "1 TabStatus status, 4 string session",
  ProfileRequest: "1 string session, 5 *Property assignments",
  ProfileAnswer: "1 ProfileStatus status",

  TextRequest: "1 string session, 2 string text, 3 bool alone",
  TextAnswer: "1 TextStatus status",
  BufferRequest: "1 string session, 2 Lines lines",
  Lines: "2 int32 trailing",
  BufferAnswer: "1 BufferStatus status, 2 Range range, 3 *Line contents, 4 Coord cursor",
  Range: "1 int64 location",
  Line: "1 string text",
  Coord: "1 int32 x, 2 int64 y",

  VariableRequest: "1 string session, 4 string tab, 2 *Variable set, 3 *string get",
  Variable: "1 string name, 2 string json",
  VariableAnswer: "1 VariableStatus status, 2 *string values",
  ActivateRequest: "3 string session, 4 bool orderFront, 5 bool selectTab, 6 bool selectSession, 7 App app",
  App: "2 bool ignoringOthers",
  ActivateAnswer: "1 ActivateStatus status",
  CloseRequest: "2 Sessions sessions, 4 bool force",
  Sessions: "1 *string ids",
  CloseAnswer: "1 *CloseStatus statuses",

  NotifyRequest: "1 string session, 2 bool subscribe, 3 int32 type",
  NotifyAnswer: "1 NotifyStatus status",
  News: "7 Terminated terminated",
  Terminated: "1 string session",
};

/** Words in the order of their numbers, from 0 on. */
const valuesOf: Readonly<Record<string, string>> = {
  Direction: "VERTICAL HORIZONTAL",
  SplitStatus: "OK SESSION_NOT_FOUND INVALID_PROFILE_NAME CANNOT_SPLIT MALFORMED_CUSTOM_PROFILE_PROPERTY",
  TabStatus: "OK INVALID_PROFILE_NAME INVALID_WINDOW_ID INVALID_TAB_INDEX MISSING_SUBSTITUTION",
  ProfileStatus: "OK SESSION_NOT_FOUND REQUEST_MALFORMED BAD_GUID",
  TextStatus: "OK SESSION_NOT_FOUND",
  BufferStatus: "OK SESSION_NOT_FOUND INVALID_LINE_RANGE REQUEST_MALFORMED",
  VariableStatus:
    "OK SESSION_NOT_FOUND INVALID_NAME MISSING_SCOPE TAB_NOT_FOUND MULTI_GET_DISALLOWED WINDOW_NOT_FOUND",
  ActivateStatus: "OK BAD_IDENTIFIER INVALID_OPTION",
  CloseStatus: "OK NOT_FOUND USER_DECLINED",
  NotifyStatus:
    "OK SESSION_NOT_FOUND REQUEST_MALFORMED NOT_SUBSCRIBED ALREADY_SUBSCRIBED DUPLICATE_SERVER_ORIGINATED_RPC INVALID_IDENTIFIER",
};

function messageTypes() {
  const typeOf = (text: string) => {
    const fields = text.split(", ").flatMap((field) => {
      const [number, type = "", name = ""] = field.split(" ");
      if (name === "") return [];
      const rule = type.startsWith("*") ? { rule: "repeated" } : {};
      return [[name, { id: Number(number), type: type.replace("*", ""), ...rule }]];
    });
    return { fields: Object.fromEntries(fields) };
  };
  return Object.fromEntries(Object.entries(fieldsOf).map(([name, text]) => [name, typeOf(text)]));
}

function enumTypes() {
  const typeOf = (text: string) => ({
    values: Object.fromEntries(text.split(" ").map((word, number) => [word, number])),
  });
  return Object.fromEntries(Object.entries(valuesOf).map(([name, text]) => [name, typeOf(text)]));
}
