import { describe, expect, it } from "vitest";
import { socketOf } from "../../src/team/uds-address.js";

describe("socketOf", () => {
  it("gives the path of a socket's address, and nothing for any other", () => {
    expect(socketOf("uds:/run/me/app.sock")).toBe("/run/me/app.sock");
    expect(socketOf("uds:/run/a@b c#d.sock")).toBe("/run/a@b c#d.sock");
    for (const address of ["ada", "ada@uds:", "*", "#uds:/x", "UDS:/x", " uds:/x", "/x"])
      expect(socketOf(address)).toBeUndefined();
  });

  it.each([
    ["uds:", "not absolute"],
    ["uds:app.sock", "not absolute"],
    ["uds:./app.sock", "not absolute"],
    ["uds:/", "plainest form"],
    ["uds:/run/me/../you/app.sock", "plainest form"],
    ["uds:/run//app.sock", "plainest form"],
    ["uds:/run/./app.sock", "plainest form"],
    ["uds:/run/app.sock/", "plainest form"],
    ["uds:/run/a\u0000b", "control character"],
    ["uds:/run/a\nb", "control character"],
    [`uds:/${"x".repeat(110)}`, "longer than"],
  ])("refuses %j", (address, why) => {
    expect(() => socketOf(address)).toThrow(
      expect.objectContaining({
        code: "bad-address",
        kind: "usage",
        message: expect.stringContaining(why),
      }),
    );
  });
});
