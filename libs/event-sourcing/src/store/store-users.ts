import usersGrpc from '@eventstore/db-client/generated/users_grpc_pb.js';
import type { UsersClient } from '@eventstore/db-client/generated/users_grpc_pb.js';
import usersPb from '@eventstore/db-client/generated/users_pb.js';
import type { DetailsResp } from '@eventstore/db-client/generated/users_pb.js';
import { StoreClient } from './store-client.js';

/** Group of the logins that may do everything. */
export const ADMINS = '$admins';

export interface KnownLogin {
  readonly fullName: string;
  readonly groups: readonly string[];
}

const CALL_WITHIN_MS = 5_000;
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
export class UsersOfStore extends StoreClient {
  ask(ask: Ask): Promise<void> {
    const given = this.callArguments({ requiresLeader: true, deadline: CALL_WITHIN_MS });
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
export const findLogin = async (client: UsersOfStore, username: string): Promise<KnownLogin | null> => {
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
export const ensureLogin = async (
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
export const joinGroup = async (
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
