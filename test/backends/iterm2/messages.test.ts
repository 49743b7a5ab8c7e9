import { expect, it } from "vitest";
import { loadCodec } from "../../../backends/iterm2/messages.js";
import { wire } from "../../iterm2-emulator/schema.js";

it("sends a false and a zero, which the API would take for something else if they were left out", async () => {
  const codec = await loadCodec();
  const sent = wire.client.decode(codec.encode(3, "tab", { index: 0, select: false, properties: [] }));
  expect(sent).toMatchObject({ id: 3, create_tab_request: { tab_index: 0, select_tab: false } });
});

it("reads an answer as it was written, its first status and its zeros, too", async () => {
  const codec = await loadCodec();
  const answer = {
    status: "OK",
    range: { location: 0 },
    contents: [{ text: "é日" }],
    cursor: { x: 0, y: 5_000_000_000 },
  };
  const bytes = wire.server.encode({ id: 9, get_buffer_response: answer });
  expect(codec.decode(bytes)).toEqual({ id: 9, buffer: answer });
});

it("takes a status that it does not know for no success", async () => {
  const codec = await loadCodec();
  // The envelope's field 131 with the status 77 in it.
  const bytes = Buffer.from([0x08, 0x01, 0x9a, 0x08, 0x02, 0x08, 77]);
  expect(codec.decode(bytes).close?.statuses.map(String)).toEqual(["77"]);
});
