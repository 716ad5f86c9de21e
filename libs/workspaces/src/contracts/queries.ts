import type { Mode } from '#event-sourcing/core/mode.js';
import { Query } from '#platform/cqrs/message.js';
import type { Paper } from './events.js';

export interface WorkspaceSummary {
  readonly workspaceId: string;
  readonly name: string;
  /** RFC 3339. */
  readonly openedAt: string;
  readonly activeKeys: number;
}

/** Reads the stream itself, so that a newly opened workspace is found. */
export class WorkspaceExists extends Query<boolean> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** From the stream itself, as it was opened; `null`: there is no such workspace. */
export class GetWorkspace extends Query<Pick<WorkspaceSummary, 'name' | 'openedAt'> | null> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** The paper that a workspace has chosen for its PDFs; `by-locale` until it chooses. */
export class GetPaper extends Query<Paper> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** Oldest first; at most 1,000. */
export class ListWorkspaces extends Query<readonly WorkspaceSummary[]> {}

/** What the owner of a key may see of it. Instants are RFC 3339. */
export interface ApiKeySummary {
  readonly keyId: string;
  readonly label: string | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  /** CIDR ranges that it works from; none: everywhere. */
  readonly networks: readonly string[];
  readonly issuedAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** The hour of its last use; `null`: none is recorded. */
  readonly lastUsedAt: string | null;
}

/** Keys of a workspace, newest first, including revoked and expired ones. */
export class ListApiKeys extends Query<readonly ApiKeySummary[]> {
  constructor(
    readonly workspaceId: string,
    readonly limit: number,
    /** `issuedAt` and `keyId` of the last key of the page before; `null`: from the newest. */
    readonly after: readonly [issuedAt: string, keyId: string] | null,
  ) {
    super();
  }
}

/** The issuer's keys that can currently be used. */
export interface IssuerKeysReport {
  /** Their source. `nowhere`: no bearer token is accepted. */
  readonly source: 'nowhere' | 'configuration' | 'url';
  readonly used: number;
  readonly unused: readonly { readonly name: string; readonly reason: string }[];
  /** Why they could not be fetched. */
  readonly failure: string | null;
}

/** Fetches the issuer's keys again, for the operator. */
export class ExamineIssuerKeys extends Query<IssuerKeysReport> {}

/** Whether authentication knows the key: false until a worker has projected it. */
export class ApiKeyIsKnown extends Query<boolean> {
  constructor(readonly keyId: string) {
    super();
  }
}

/** A key that stops working soon. */
export interface ExpiringKey {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly mode: Mode;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Keys in use that expire within `withinMs` after `from` (RFC 3339), also those that a rotation ends. A key that lives for
 * a shorter time in all is not found: it ends as its owner planned, or was rotated soon after it was issued. The row does not
 * tell the two apart.
 */
export class FindExpiringKeys extends Query<{
  readonly found: readonly ExpiringKey[];
  readonly next: string | null;
}> {
  constructor(
    readonly from: string,
    readonly withinMs: number,
    /** `next` of the page before; empty: from the first. */
    readonly after: string,
  ) {
    super();
  }
}
