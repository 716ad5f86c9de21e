import { StoreDamaged, StoreUnavailable, isAccessDenied } from '#event-sourcing/store/errors.js';
import { KeysUnavailable } from '../crypto/wrapping-keys.js';

const ADDRESS = 'Is it running, and is its address right (DATA_DIR, or DATABASE_URL and EVENTSTORE_URL)?';

/** What is wrong with a store, as a message says it, and what it means for an operator. */
const KINDS = {
  absent: ['does not answer', ADDRESS],
  refused: [
    'refuses this login or action',
    'Check the login and the rights of its role: ops database prepare, ops event-store prepare.',
  ],
  damaged: [
    'has damaged data',
    'Stop the service and restore a backup (docs/operations.md, "Backup and restore").',
  ],
  table_missing: [
    'lacks a table or column',
    'ops doctor names what is missing, and the command that makes it again.',
  ],
  disk_full: ['has no disk space left', 'Free some space on its disk; everything resumes by itself.'],
  unsupported: [
    'is too old for this program',
    'Upgrade it: PostgreSQL 18 is tested, and 15 is the oldest that can work.',
  ],
  other_installation: [
    'was not used with this DIGEST_KEY',
    'Give this process the DIGEST_KEY of the other processes, or the DATABASE_URL of its own installation. If that key is lost: docs/runbook.md, "The wrong DIGEST_KEY".',
  ],
  // A standby, or a server that was set to read-only.
  read_only: [
    'takes no writes',
    'DATABASE_URL must lead to the primary: promote the standby, or correct the proxy. Everything resumes by itself.',
  ],
  overloaded: [
    'is out of connections or memory',
    'Reduce the number of processes or DATABASE_POOL_SIZE, or raise max_connections.',
  ],
} as const satisfies Readonly<Record<string, readonly [said: string, advice: string]>>;

export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as [FaultKind, ...FaultKind[]];

/** What a fault of this kind means for an operator. */
export const adviceOn = (kind: FaultKind): string => KINDS[kind][1];

/** Why a store did not do its work, and what to do about it. */
export interface Fault {
  readonly kind: FaultKind;
  readonly where: 'PostgreSQL' | 'the event store' | 'the keeper of keys';
  /** One line without personal data. */
  readonly message: string;
  readonly advice: string;
}

/** SQLSTATE with which a session on a PostgreSQL that is too old ends, in the class of connection exceptions. */
export const TOO_OLD = '08V01';

/** SQLSTATE with which a session on a database that was used with another `DIGEST_KEY` ends, in the same class. */
export const OTHER_INSTALLATION = '08V02';

/** SQLSTATE of a write on a server that takes none. Sessions on a standby are refused with it. */
export const READ_ONLY = '25006';

/** SQLSTATE classes and codes (PostgreSQL, appendix A), the more specific first. */
const POSTGRES: readonly (readonly [RegExp, FaultKind])[] = [
  [/^53100$/, 'disk_full'],
  [/^53/, 'overloaded'],
  [/^(42P01|42703|3F000)$/, 'table_missing'],
  [/^(28|42501$)/, 'refused'],
  [/^(XX00[12]|58030)$/, 'damaged'],
  [new RegExp(`^${TOO_OLD}$`), 'unsupported'],
  [new RegExp(`^${OTHER_INSTALLATION}$`), 'other_installation'],
  [new RegExp(`^${READ_ONLY}$`), 'read_only'],
  [/^(08|57P|3D000$)/, 'absent'],
];
/** Of a socket. A file has some of them too, with other system calls. */
const SOCKET_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENOENT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH)/;
const SOCKET_CALLS = /^(connect|read|write|getaddrinfo)$/;
const CONNECTION_LOST =
  /connection terminated|timeout exceeded when trying to connect|connection error|query read timeout/i;

const KEYS_ADVICE =
  'Does this process have the same ENCRYPTION_KEYS and KEY_DIRECTORY as the others? ops keys status says more.';

/** The store's fault behind an error; `null` when the error is anything else, such as a refusal or a bug. */
export const faultOf = (error: unknown): Fault | null => {
  if (error instanceof StoreDamaged) return fault('the event store', 'damaged', error.message);
  if (error instanceof KeysUnavailable)
    return {
      kind: 'absent',
      where: 'the keeper of keys',
      message: `a key cannot be used now (${error.message})`,
      advice: KEYS_ADVICE,
    };
  if (error instanceof StoreUnavailable)
    return fault(
      'the event store',
      /disk .* is full/i.test(reasonOf(error)) ? 'disk_full' : 'absent',
      reasonOf(error),
    );
  const {
    code,
    message = '',
    syscall,
  } = (error ?? {}) as Partial<Record<'code' | 'syscall', unknown>> & { message?: string };
  if (isAccessDenied(error)) return fault('the event store', 'refused', message);
  if (CONNECTION_LOST.test(message)) return fault('PostgreSQL', 'absent', message);
  if (typeof code !== 'string') return null;
  const isSocket = SOCKET_CODES.test(code) && SOCKET_CALLS.test(String(syscall));
  const kind = isSocket ? 'absent' : POSTGRES.find(([codes]) => codes.test(code))?.[1];
  return kind ? fault('PostgreSQL', kind, message) : null;
};

const fault = (where: Fault['where'], kind: FaultKind, detail: string): Fault => ({
  kind,
  where,
  message: `${where} ${KINDS[kind][0]}${detail === '' ? '' : ` (${detail})`}`,
  advice: adviceOn(kind),
});

/** The client's own message says more than the one that the store's wrapper gives. */
const reasonOf = (error: StoreUnavailable): string =>
  error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
