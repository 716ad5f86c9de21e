import { Query } from '@nestjs/cqrs';

export interface WorkspaceSummary {
  readonly workspaceId: string;
  readonly name: string;
  /** RFC 3339. */
  readonly openedAt: string;
  readonly activeKeys: number;
}

/** From the stream itself, so that a workspace opened a moment ago is known. */
export class WorkspaceExists extends Query<boolean> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** Oldest first; at most 1,000. */
export class ListWorkspaces extends Query<readonly WorkspaceSummary[]> {}

/** What can be used of the issuer's keys, as they are now. */
export interface IssuerKeysReport {
  /** Where they come from; `nowhere`: no bearer token is accepted. */
  readonly source: 'nowhere' | 'configuration' | 'url';
  readonly used: number;
  readonly unused: readonly { readonly name: string; readonly reason: string }[];
  /** Why they could not be fetched. */
  readonly failure: string | null;
}

/** Fetches the issuer's keys once more, for the operator. */
export class ExamineIssuerKeys extends Query<IssuerKeysReport> {}

/** Whether authentication knows the key yet, or still: false until a worker has projected it. */
export class ApiKeyIsKnown extends Query<boolean> {
  constructor(readonly keyId: string) {
    super();
  }
}
