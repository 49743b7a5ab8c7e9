/** From narrow to wide; see docs/security.md. Headless, what would ask is denied. */
export const permissionModes = ["plan", "default", "acceptEdits", "bypassPermissions"] as const;

export type PermissionMode = (typeof permissionModes)[number];
