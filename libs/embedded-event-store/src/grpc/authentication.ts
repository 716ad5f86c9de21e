import { createHash, timingSafeEqual } from 'node:crypto';
import {
  status,
  type Metadata,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { RpcError } from './rpc-error.js';

/** The single login that a server may require. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Why a call is refused, or undefined if it may proceed. A call without credentials is anonymous:
 * PERMISSION_DENIED, not UNAUTHENTICATED.
 */
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

type Handler = (call: Call) => void;
interface Call {
  readonly metadata: Metadata;
  emit(event: 'error', error: RpcError): boolean;
}

/**
 * Requires the login (HTTP Basic, RFC 7617, in the call's metadata) on every call. A wrong login gets
 * UNAUTHENTICATED without trailers. A missing login gets PERMISSION_DENIED with `exception=access-denied`.
 */
export const guarded = <T extends UntypedServiceImplementation>(handlers: T, login: Login | undefined): T => {
  if (!login) return handlers;
  const expected = digest(`${login.username}:${login.password}`);
  const guard =
    (handler: Handler): Handler =>
    (call) => {
      const refusal = refusalOf(call.metadata, expected);
      if (refusal) call.emit('error', refusal);
      else handler(call);
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      guard(handler as unknown as Handler) as unknown as UntypedHandleCall,
    ]),
  ) as T;
};
