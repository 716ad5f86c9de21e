import { randomUUID } from 'node:crypto';
import { status, type handleServerStreamingCall } from '@grpc/grpc-js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { describeDamage, isDamage } from '../log/damaged-data.js';
import { readAll, readStream } from '../reads/reads.js';
import { subscribeToAll, subscribeToStream } from '../subscriptions/subscriptions.js';
import { encodeConfirmation } from '../wire/read-response.js';
import type { ServerContext } from './context.js';
import { gatherWrites } from './gathered-writes.js';
import { Outlet } from './outlet.js';
import { parseReadRequest, type ReadRequest } from './read-request.js';
import { resourceExhausted, RpcError, stopping } from './rpc-error.js';

const isOfStream = (request: ReadRequest): request is ReadRequest & { readonly stream: string } =>
  request.stream !== undefined;

/** Read: finite reads and subscriptions, of a stream or of $all. Responses are sent as encoded bytes. */
export const read = (context: ServerContext): handleServerStreamingCall<ReadReq, Buffer> => {
  let subscriptions = 0;

  const subscribe = async (request: ReadRequest, outlet: Outlet): Promise<void> => {
    if (subscriptions >= context.limits.maxSubscriptions) {
      const details = `The limit of ${String(context.limits.maxSubscriptions)} concurrent subscriptions is reached.`;
      throw resourceExhausted(details);
    }
    subscriptions++;
    try {
      await outlet.send(encodeConfirmation(randomUUID()));
      await (isOfStream(request)
        ? subscribeToStream(context, request, outlet)
        : subscribeToAll(context, request, outlet));
    } finally {
      subscriptions--;
    }
  };

  const serve = async (request: ReadRequest, outlet: Outlet): Promise<void> => {
    if (request.limit === undefined) await subscribe(request, outlet);
    else
      await (isOfStream(request) ? readStream(context, request, outlet) : readAll(context, request, outlet));
  };

  return (call) => {
    gatherWrites(call);
    const outlet = new Outlet(call, context.calls);
    const run = async (): Promise<void> => {
      if (context.calls.stopping) throw stopping();
      await serve(parseReadRequest(call.request), outlet);
    };
    run().then(
      () => {
        outlet.end();
      },
      (error: unknown) => {
        if (!(error instanceof RpcError)) context.report(`A read failed: ${String(error)}`);
        outlet.fail(
          isDamage(error) ? new RpcError(status.DATA_LOSS, describeDamage(context.store.file, error)) : error,
        );
      },
    );
  };
};
