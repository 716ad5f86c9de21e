import { createHash, timingSafeEqual } from 'node:crypto';
import {
  status,
  type Metadata,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { RpcError } from './rpc-error.js';

/** The one login that a server may ask for. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Why a call may not go on, or undefined. Without credentials it is anonymous: denied, not unauthenticated. */
const refusalOf = (metadata: Metadata, expected: Buffer): RpcError | undefined => {
  const [header] = metadata.get('authorization');
  if (header === undefined) {
    return new RpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
  }
  const [, base64 = ''] = /^Basic +(\S+)$/i.exec(String(header)) ?? [];
  const presented = digest(Buffer.from(base64, 'base64').toString('utf8'));
  return timingSafeEqual(presented, expected)
    ? undefined
    : new RpcError(status.UNAUTHENTICATED, 'The login is not valid.');
};

type Handler = (call: Call, respond?: (error: RpcError) => void) => void;
interface Call {
  readonly metadata: Metadata;
  emit(event: 'error', error: RpcError): boolean;
}

/**
 * Lets only calls through that present the login (HTTP Basic, RFC 7617, in the call's metadata): a wrong one is
 * UNAUTHENTICATED without trailers, none at all PERMISSION_DENIED with exception=access-denied.
 */
export const guarded = <T extends UntypedServiceImplementation>(handlers: T, login: Login | undefined): T => {
  if (!login) return handlers;
  const expected = digest(`${login.username}:${login.password}`);
  const guard =
    (handler: Handler): Handler =>
    (call, respond) => {
      const refusal = refusalOf(call.metadata, expected);
      if (!refusal) handler(call, respond);
      else if (respond) respond(refusal);
      else call.emit('error', refusal);
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      guard(handler as unknown as Handler) as unknown as UntypedHandleCall,
    ]),
  ) as T;
};
