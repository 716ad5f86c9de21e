import { setTimeout as pause } from 'node:timers/promises';
import usersGrpc from '@eventstore/db-client/generated/users_grpc_pb.js';
import usersPb from '@eventstore/db-client/generated/users_pb.js';
import type { UsersClient } from '@eventstore/db-client/generated/users_grpc_pb.js';
import type { DetailsResp } from '@eventstore/db-client/generated/users_pb.js';
import { BACKWARDS, END, StreamNotFoundError, jsonEvent } from '@eventstore/db-client';
import { StoreClient } from './store-client.js';
import { beforeDeadline } from '../timing/deadline.js';
import { readAddress } from './address.js';

/** Group of the logins that may do everything. */
const ADMINS = '$admins';

interface KnownLogin {
  readonly fullName: string;
  readonly groups: readonly string[];
}

const ANSWER_WITHIN_MS = 5_000;
/** gRPC code FAILED_PRECONDITION: a user of that name has another password; with the same one, creating succeeds. */
const CONFLICT = 9;
/** In the header `exception`; the gRPC code is that of a node that does not lead, too. */
const NO_SUCH_USER = 'user-not-found';
const FULL_NAME = 'The service';

interface ServiceError extends Error {
  readonly metadata?: { get(name: string): readonly unknown[] };
}
type Settle = (error: Error | null) => void;
type CallArguments = ReturnType<StoreClient['callArguments']>;
type Ask = (users: UsersClient, ...settling: [...CallArguments, Settle]) => unknown;

/** The client has no operations for users, but its package has the protocol's stubs. */
class UsersOfStore extends StoreClient {
  ask(ask: Ask): Promise<void> {
    const given = this.callArguments({ requiresLeader: true, deadline: ANSWER_WITHIN_MS });
    return this.execute(
      usersGrpc.UsersClient,
      'users',
      (users: UsersClient) =>
        new Promise<void>((resolve, reject) => {
          ask(users, ...given, (error) => (error ? reject(error) : resolve()));
        }),
    );
  }
}

/** @returns `null`: there is no such login */
const findLogin = async (client: UsersOfStore, username: string): Promise<KnownLogin | null> => {
  const asked = new usersPb.DetailsReq.Options();
  asked.setLoginName(username);
  const details = new usersPb.DetailsReq();
  details.setOptions(asked);
  let found: KnownLogin | null = null;
  try {
    await client.ask((users, metadata, options, settle) => {
      const answers = users.details(details, metadata, options);
      answers.on('data', (answer: DetailsResp) => {
        const user = answer.getUserDetails();
        if (user) found = { fullName: user.getFullName(), groups: user.getGroupsList() };
      });
      answers.on('error', settle).on('end', () => settle(null));
    });
  } catch (error) {
    if ((error as ServiceError).metadata?.get('exception')[0] !== NO_SUCH_USER) throw error;
  }
  return found;
};

/** Makes the login, or gives it this password. */
const ensureLogin = async (
  client: UsersOfStore,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<'ready' | 'password set'> => {
  const wanted = new usersPb.CreateReq.Options();
  wanted.setLoginName(username);
  wanted.setPassword(password);
  wanted.setFullName(FULL_NAME);
  const create = new usersPb.CreateReq();
  create.setOptions(wanted);
  try {
    await client.ask((users, metadata, options, settle) => users.create(create, metadata, options, settle));
    return 'ready';
  } catch (error) {
    if ((error as { code?: number }).code !== CONFLICT) throw error;
  }
  const known = new usersPb.ResetPasswordReq.Options();
  known.setLoginName(username);
  known.setNewPassword(password);
  const reset = new usersPb.ResetPasswordReq();
  reset.setOptions(known);
  await client.ask((users, metadata, options, settle) =>
    users.resetPassword(reset, metadata, options, settle),
  );
  return 'password set';
};

/** The login keeps its other groups. */
const joinGroup = async (
  client: UsersOfStore,
  username: string,
  group: string,
): Promise<'joined' | 'as wanted'> => {
  const known = await findLogin(client, username);
  if (known?.groups.includes(group)) return 'as wanted';
  const changed = new usersPb.UpdateReq.Options();
  changed.setLoginName(username);
  changed.setFullName(known?.fullName ?? FULL_NAME);
  changed.setGroupsList([...(known?.groups ?? []), group]);
  const update = new usersPb.UpdateReq();
  update.setOptions(changed);
  await client.ask((users, metadata, options, settle) => users.update(update, metadata, options, settle));
  return 'joined';
};

/** EventStoreDB's logins and access lists cannot be prepared; the message says why and what to do. */
export class UnpreparableStore extends Error {
  override readonly name = 'UnpreparableStore';
}

export interface Preparation {
  /** The login of a member of `$admins`; used only for this. */
  readonly adminUrl: string;
  /** The login of the service. */
  readonly login: { readonly username: string; readonly password: string };
  /** Group that gets the access. The login joins it. */
  readonly group: string;
}

/** One step: done now, or found done. */
export interface PreparedPart {
  readonly part: 'login' | 'group' | 'access to $all' | 'default access';
  readonly change: 'ready' | 'password set' | 'joined' | 'changed' | 'as wanted';
}

const SETTINGS = '$settings';
const METADATA_OF_ALL = '$$$all';
const DEFAULT_ACCESS = 'update-default-acl';

/** The store may be without a leader for a moment, and makes its own users shortly after it answers. */
const ATTEMPTS = 10;
const BETWEEN_ATTEMPTS_MS = 1_000;
const CALL_WITHIN_MS = 5_000;

const DEADLINE_EXCEEDED = 4;
const UNAUTHENTICATED = 16;
const UNIMPLEMENTED = 12;
/** gRPC codes: DEADLINE_EXCEEDED, NOT_FOUND (not the leader), UNAVAILABLE, and UNAUTHENTICATED during user creation. */
const PASSING = new Set([DEADLINE_EXCEEDED, 5, 14, UNAUTHENTICATED]);

/**
 * Gives the service a login without administrator rights, in a group. The group may read `$all`, and read and append to
 * streams. It cannot delete streams, change their metadata, or touch system streams. Other logins get nothing by default.
 * If default access is set already, adds the group and removes nobody. Safe to repeat.
 * @throws UnpreparableStore
 */
export const prepareEventStore = async ({
  adminUrl,
  login,
  group,
}: Preparation): Promise<readonly PreparedPart[]> => {
  const address = readAddress(adminUrl);
  const client = new UsersOfStore(address, address.nodes[0]!);
  try {
    const known = await patiently(() => findLogin(client, login.username));
    if (known?.groups.includes(ADMINS))
      throw new UnpreparableStore(
        `${login.username} is an administrator of the event store: give the service another login.`,
      );
    return [
      { part: 'login', change: await patiently(() => ensureLogin(client, login)) },
      { part: 'group', change: await patiently(() => joinGroup(client, login.username, group)) },
      { part: 'access to $all', change: await patiently(() => openAll(client, group)) },
      { part: 'default access', change: await patiently(() => setDefaultAccess(client, group)) },
    ];
  } finally {
    await client.close();
  }
};

const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      // The client enforces no deadline on appends.
      return await beforeDeadline(CALL_WITHIN_MS, work(), () => {
        throw Object.assign(new Error(`no answer within ${CALL_WITHIN_MS} ms`), { code: DEADLINE_EXCEEDED });
      });
    } catch (error) {
      const { code, message } = error as { code?: number; message: string };
      if (code === UNIMPLEMENTED)
        throw new UnpreparableStore('This store has no users: it is an embedded one.');
      if (attempt === ATTEMPTS && code === UNAUTHENTICATED)
        throw new UnpreparableStore('The event store refuses the login of the administrator.');
      if (attempt === ATTEMPTS || (code !== undefined && !PASSING.has(code)))
        throw new UnpreparableStore(`The event store refused: ${message}`, { cause: error });
      await pause(BETWEEN_ATTEMPTS_MS);
    }
  }
};

type Roles = string | readonly string[] | undefined;
const listed = (roles: Roles): readonly string[] =>
  roles === undefined ? [] : typeof roles === 'string' ? [roles] : roles;
const includesAll = (roles: Roles, wanted: readonly string[]): boolean =>
  wanted.every((role) => listed(roles).includes(role));
const union = (roles: Roles, wanted: readonly string[]): readonly string[] => [
  ...new Set([...listed(roles), ...wanted]),
];

type AccessList = Readonly<Partial<Record<'$r' | '$w' | '$d' | '$mr' | '$mw', Roles>>>;

const openAll = async (client: UsersOfStore, group: string): Promise<PreparedPart['change']> => {
  const { data, revision } = await lastOf<{ $acl?: AccessList }>(client, '$metadata', METADATA_OF_ALL);
  const wanted = [ADMINS, group];
  if (includesAll(data?.$acl?.$r, wanted)) return 'as wanted';
  const changed = { ...data, $acl: { ...data?.$acl, $r: union(data?.$acl?.$r, wanted) } };
  await append(client, METADATA_OF_ALL, { type: '$metadata', data: changed, after: revision });
  return 'changed';
};

const setDefaultAccess = async (client: UsersOfStore, group: string): Promise<PreparedPart['change']> => {
  const { data: access, revision } = await lastOf<{
    $userStreamAcl?: AccessList;
    $systemStreamAcl?: AccessList;
  }>(client, DEFAULT_ACCESS, SETTINGS);
  const service = [ADMINS, group];
  const users = access?.$userStreamAcl;
  if ((['$r', '$w', '$mr'] as const).every((right) => includesAll(users?.[right], service)))
    return 'as wanted';
  const admins = [ADMINS];
  const changed = {
    $userStreamAcl: {
      $r: union(users?.$r, service),
      $w: union(users?.$w, service),
      $d: users?.$d ?? admins,
      $mr: union(users?.$mr, service),
      $mw: users?.$mw ?? admins,
    },
    $systemStreamAcl:
      access?.$systemStreamAcl ??
      Object.fromEntries(['$r', '$w', '$d', '$mr', '$mw'].map((right) => [right, admins])),
  };
  await append(client, SETTINGS, { type: DEFAULT_ACCESS, data: changed, after: revision });
  return 'changed';
};

/** The last event of a metadata stream is in force. (The client's own reader of metadata gives no revision.) */
const lastOf = async <Data>(
  client: UsersOfStore,
  wanted: string,
  stream: string,
): Promise<{ data?: Data; revision?: bigint }> => {
  const events = client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 });
  let last: { data?: Data; revision?: bigint } = {};
  try {
    // Read to the end: the client does not cancel a read that stops early, and closing it would wait for that read.
    for await (const { event } of events) {
      if (!event) continue;
      const { type, data, revision } = event;
      last = { revision, ...(type === wanted && { data: data as Data }) };
    }
  } catch (error) {
    if (!(error instanceof StreamNotFoundError)) throw error;
  }
  return last;
};

const append = (
  client: UsersOfStore,
  stream: string,
  { type, data, after }: { type: string; data: object; after: bigint | undefined },
): Promise<unknown> =>
  client.appendToStream(stream, jsonEvent({ type, data: data as never }), {
    expectedRevision: after ?? 'no_stream',
  });
