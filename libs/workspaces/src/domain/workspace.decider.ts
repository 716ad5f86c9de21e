import { instant } from '#event-sourcing/core/clock.js';
import {
  type Decider,
  accept,
  assertNever,
  type Decision,
  ignore,
  reject,
  type Rejection,
} from '#event-sourcing/core/decider.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import {
  type ApiKeyTerms,
  type AskedTerms,
  type BeyondCaller,
  type Choices,
  type KeyManager,
  LOW_CREDITS_PERCENT,
  type Paper,
  type WorkspaceEvent,
} from '../contracts/index.js';
import { areWithin, type Network, readNetwork } from '../contracts/networks.js';

/** What every new key needs. */
interface NewKey {
  readonly keyId: string;
  readonly hash: string;
  readonly manager: KeyManager;
  /** Most keys that may be active at once. Existing keys above a lowered limit stay. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What the webhooks of a workspace tell. */
type WebhookContent = Required<Omit<Choices, 'paper'>>;

export type WorkspaceCommand =
  | { readonly type: 'OpenWorkspace'; readonly workspaceId: string; readonly name: string }
  | (NewKey & {
      readonly type: 'IssueApiKey';
      readonly asked: AskedTerms;
      /** The scopes of a key for which none are asked. */
      readonly ordinaryScopes: readonly string[];
    })
  | (NewKey & {
      readonly type: 'RotateApiKey';
      /** The key that the new one replaces. */
      readonly previous: string;
      /** How long the previous key still works. 0 revokes it. */
      readonly overlapMs: number;
    })
  | {
      readonly type: 'RevokeApiKey';
      readonly keyId: string;
      readonly reason: string | null;
      readonly sees: readonly Mode[];
    }
  | ({ readonly type: 'Choose' } & Choices);

export type WorkspaceRejection =
  | Rejection<'WorkspaceNotOpen', null>
  | Rejection<'UnknownKey', null>
  | Rejection<'KeyLimitReached', { limit: number }>
  | Rejection<'OwnKeyEnded', null>
  | Rejection<'BeyondCaller', BeyondCaller>;

/** A key that is not revoked. */
interface StandingKey extends ApiKeyTerms {
  /** When it stops working, milliseconds since the epoch, or infinity. Its rotation may set it before `expiresAt`. */
  readonly endsAt: number;
}

/** Only bearer tokens and operators give it: a leaked key must not make keys that make keys. */
const NEVER_GIVEN_BY_KEYS = ['keys:write'];
/** Nor does a session, which opens no other: it would outlive itself. */
const NEVER_GIVEN_BY_SESSIONS = [...NEVER_GIVEN_BY_KEYS, 'portal:write'];

/**
 * The terms that a caller asks for, completed.
 * @param ordinary the scopes of a key for which none are asked
 * @param own the caller's key, if the caller uses one
 */
export const completed = (
  asked: AskedTerms,
  ordinary: readonly string[],
  own: StandingKey | null,
): ApiKeyTerms => ({
  ...asked,
  scopes: asked.scopes ?? ordinary.filter((scope) => own === null || own.scopes.includes(scope)),
  networks: asked.networks ?? own?.networks ?? [],
  expiresAt: asked.expiresAt ?? (own && endOf(own)),
});

/** The first term that the caller may not give, or `null`. */
const beyondCaller = (
  terms: ApiKeyTerms,
  { sees, scopes, hides = [] }: KeyManager,
  own: StandingKey | null,
): BeyondCaller | null => {
  if (!sees.includes(terms.mode)) return { term: 'mode' };
  const never = scopes ? NEVER_GIVEN_BY_SESSIONS : own ? NEVER_GIVEN_BY_KEYS : [];
  const kept = terms.scopes.find((one) => never.includes(one));
  if (kept !== undefined) return { term: 'never', scope: kept };
  const ungiven = terms.scopes.find((one) => scopes && !scopes.includes(one));
  if (ungiven !== undefined) return { term: 'scopes', scope: ungiven };
  if (terms.scopes.some((one) => hides.includes(one))) return { term: 'persons' };
  if (own === null) return null;
  const scope = terms.scopes.find((one) => !own.scopes.includes(one));
  if (scope !== undefined) return { term: 'scopes', scope };
  if (!isFromWithin(terms.networks, own.networks)) return { term: 'networks' };
  return expiryOf(terms.expiresAt) > own.endsAt ? { term: 'expiresAt' } : null;
};

const endOf = ({ endsAt }: StandingKey): string | null =>
  endsAt === Number.POSITIVE_INFINITY ? null : instant(endsAt);

/** No networks at all means everywhere. */
const isFromWithin = (networks: readonly string[], own: readonly string[]): boolean =>
  own.length === 0 || (networks.length > 0 && areWithin(read(networks), read(own)));

const read = (networks: readonly string[]): readonly Network[] =>
  networks.flatMap((text) => {
    const network = readNetwork(text);
    return network ? [network] : [];
  });

const expiryOf = (expiresAt: string | null): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);

export interface Workspace {
  readonly open: boolean;
  /** Each key that is not revoked, by id. */
  readonly standing: ReadonlyMap<string, StandingKey>;
  /** The modes of the REMEMBERED keys revoked last, by id, oldest first. */
  readonly revoked: ReadonlyMap<string, Mode>;
  readonly paper: Paper;
  readonly webhookContent: WebhookContent;
}

/**
 * Revoked keys that are remembered: 216 bytes each. To revoke so many takes a workspace eight minutes at its rate, so
 * repeats of a request find them. The row of a key stays, and revives no key.
 */
const REMEMBERED = 1_000;

type Decided = Decision<WorkspaceEvent, WorkspaceRejection>;
type Issue = Extract<WorkspaceCommand, { type: 'IssueApiKey' }>;
type Rotate = Extract<WorkspaceCommand, { type: 'RotateApiKey' }>;
type Revoke = Extract<WorkspaceCommand, { type: 'RevokeApiKey' }>;

const decide = (command: WorkspaceCommand, state: Workspace): Decided => {
  if (command.type === 'OpenWorkspace') {
    const { workspaceId, name } = command;
    return state.open
      ? ignore('AlreadyOpen')
      : accept({ type: 'WorkspaceOpened', data: { workspaceId, name } });
  }
  if (!state.open) return reject('WorkspaceNotOpen', null);
  switch (command.type) {
    case 'IssueApiKey':
      return issue(command, state);
    case 'RotateApiKey':
      return rotate(command, state);
    case 'RevokeApiKey':
      return revoke(command, state);
    case 'Choose':
      return choose(command, state);
    default:
      return assertNever(command);
  }
};

const issue = (command: Issue, state: Workspace): Decided => {
  const { keyId, asked, ordinaryScopes, manager, limit, now } = command;
  const own = manager.keyId === null ? null : activeKey(state, manager.keyId, now);
  if (own === undefined) return reject('OwnKeyEnded', null);
  // A repeat shows the key as it was issued: the caller must be able to give that one.
  const terms = state.standing.get(keyId) ?? completed(asked, ordinaryScopes, own);
  const beyond = beyondCaller(terms, manager, own);
  if (beyond) return reject('BeyondCaller', beyond);
  if (isIssued(state, keyId)) return ignore('AlreadyIssued');
  if (isFull(state, terms.mode, limit, now)) return reject('KeyLimitReached', { limit });
  return accept(issued(command, terms, null));
};

/** During an overlap both keys count: the limit is never exceeded. Without one, the new key takes the place of the old. */
const rotate = (command: Rotate, state: Workspace): Decided => {
  const { keyId, previous, overlapMs, manager, limit, now } = command;
  const own = manager.keyId === null ? null : activeKey(state, manager.keyId, now);
  if (own === undefined) return reject('OwnKeyEnded', null);
  // A repeat finds the successor in place of the previous key.
  const terms = state.standing.get(keyId) ?? activeKey(state, previous, now);
  if (!terms || !manager.sees.includes(terms.mode)) return reject('UnknownKey', null);
  const beyond = beyondCaller(terms, manager, own);
  if (beyond) return reject('BeyondCaller', beyond);
  if (isIssued(state, keyId)) return ignore('AlreadyIssued');
  if (overlapMs > 0 && isFull(state, terms.mode, limit, now)) return reject('KeyLimitReached', { limit });
  // The successor last: whoever sees it sees the end of the previous key, too.
  return accept(
    overlapMs === 0
      ? { type: 'ApiKeyRevoked', data: { keyId: previous, reason: 'rotated' } }
      : {
          type: 'ApiKeyReplaced',
          data: {
            keyId: previous,
            replacedBy: keyId,
            expiresAt: instant(Math.min(terms.endsAt, now + overlapMs)),
          },
        },
    issued(command, terms, previous),
  );
};

const revoke = ({ keyId, reason, sees }: Revoke, state: Workspace): Decided => {
  const mode = state.standing.get(keyId)?.mode ?? state.revoked.get(keyId);
  if (mode === undefined || !sees.includes(mode)) return reject('UnknownKey', null);
  return state.revoked.has(keyId)
    ? ignore('AlreadyRevoked')
    : accept({ type: 'ApiKeyRevoked', data: { keyId, reason } });
};

const choose = ({ paper, externalId, lowCreditsPercent }: Choices, state: Workspace): Decided => {
  const { webhookContent: before } = state;
  const data = {
    externalId: externalId ?? before.externalId,
    lowCreditsPercent: lowCreditsPercent ?? before.lowCreditsPercent,
  };
  const isOther =
    data.externalId !== before.externalId || data.lowCreditsPercent !== before.lowCreditsPercent;
  const events: WorkspaceEvent[] = [
    ...(paper !== undefined && paper !== state.paper
      ? [{ type: 'PaperChosen', data: { paper } } as const]
      : []),
    ...(isOther ? [{ type: 'WebhookContentChosen', data } as const] : []),
  ];
  return events.length === 0 ? ignore('Unchanged') : accept(...events);
};

const issued = (
  { keyId, hash }: Issue | Rotate,
  { label, expiresAt, mode, scopes, networks }: ApiKeyTerms,
  replaces: string | null,
): WorkspaceEvent => ({
  type: 'ApiKeyIssued',
  data: { keyId, hash, label, expiresAt, mode, scopes: [...scopes], networks: [...networks], replaces },
});

const isIssued = ({ standing, revoked }: Workspace, keyId: string): boolean =>
  standing.has(keyId) || revoked.has(keyId);

const activeKey = ({ standing }: Workspace, keyId: string, now: number): StandingKey | undefined => {
  const key = standing.get(keyId);
  return key && key.endsAt > now ? key : undefined;
};

/** Keys that are not revoked, as a multiple of those that may be active. Each takes 3 kB of memory, also once expired. */
const WITH_EXPIRED = 10;

/** Expired keys remain until they are revoked. Keys of the other mode, which the caller may not see, take no place. */
const isFull = ({ standing }: Workspace, mode: Mode, limit: number, now: number): boolean => {
  if (standing.size < limit) return false;
  let [all, active] = [0, 0];
  for (const key of standing.values())
    if (key.mode === mode) {
      all += 1;
      if (key.endsAt > now) active += 1;
    }
  return active >= limit || all >= WITH_EXPIRED * limit;
};

/** A copy: these maps hold a thousand entries at most, so that one costs some microseconds an event. */
const added = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(key, value);
const without = <V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> => {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
};

const evolve = (state: Workspace, event: WorkspaceEvent): Workspace => {
  const { standing, revoked } = state;
  switch (event.type) {
    case 'WorkspaceOpened':
      return { ...state, open: true };
    case 'ApiKeyIssued': {
      const { keyId, label, mode, scopes, networks, expiresAt } = event.data;
      const key = { label, mode, scopes, networks, expiresAt, endsAt: expiryOf(expiresAt) };
      return { ...state, standing: added(standing, keyId, key) };
    }
    case 'ApiKeyReplaced': {
      const { keyId, expiresAt } = event.data;
      const key = standing.get(keyId);
      return key
        ? { ...state, standing: added(standing, keyId, { ...key, endsAt: expiryOf(expiresAt) }) }
        : state;
    }
    case 'ApiKeyRevoked': {
      const { keyId } = event.data;
      const mode = standing.get(keyId)?.mode ?? 'live';
      const remembered = [...revoked, [keyId, mode] as const].slice(-REMEMBERED);
      return { ...state, standing: without(standing, keyId), revoked: new Map(remembered) };
    }
    case 'PaperChosen':
      return { ...state, paper: event.data.paper };
    case 'WebhookContentChosen':
      return { ...state, webhookContent: event.data };
    default:
      return assertNever(event);
  }
};

export const workspaceDecider: Decider<WorkspaceCommand, WorkspaceEvent, Workspace, WorkspaceRejection> = {
  initialState: {
    open: false,
    standing: new Map(),
    revoked: new Map(),
    paper: 'by-locale',
    webhookContent: { externalId: true, lowCreditsPercent: LOW_CREDITS_PERCENT },
  },
  decide,
  evolve,
};
