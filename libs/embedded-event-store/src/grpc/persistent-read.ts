import { randomUUID } from 'node:crypto';
import type { MetadataValue, ServerDuplexStream } from '@grpc/grpc-js';
import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/persistent_pb.js';
import type { Consumer } from '../persistent-subscriptions/consumer.js';
import type { Group, NackAction } from '../persistent-subscriptions/group.js';
import { DeliveryTimes } from '../persistent-subscriptions/delivery-times.js';
import { encodeConfirmation, encodePersistentEvent } from '../wire/read-response.js';
import type { ServerContext } from './context.js';
import { Outlet } from './outlet.js';
import { groupName } from './persistent-requests.js';
import { uuidText } from './requests.js';
import { groupFailure, invalidArgument, resourceExhausted, stopping } from './rpc-error.js';

const { Action } = persistentPb.ReadReq.Nack;

const actionOf = (nack: ReadReq.Nack): NackAction => {
  switch (nack.getAction()) {
    case Action.PARK:
      return 'park';
    // EventStoreDB takes `stop` for `skip`: it drops nobody.
    case Action.SKIP:
    case Action.STOP:
      return 'skip';
    default:
      return 'retry';
  }
};

const loginName = (header: MetadataValue = ''): string => {
  const base64 = /^Basic +(\S+)$/i.exec(header.toString())?.[1] ?? '';
  return Buffer.from(base64, 'base64').toString('utf8').split(':')[0] ?? '';
};

interface Joined {
  readonly group: Group;
  readonly consumer: Consumer;
}

/** Read: the first message joins a group; the following ones acknowledge or reject its events. */
export const persistentRead =
  (context: ServerContext) =>
  (call: ServerDuplexStream<ReadReq, Buffer>): void => {
    const { groups, limits, calls } = context;
    const outlet = new Outlet(call, calls);
    let joined: Joined | undefined;

    const join = (options: ReadReq.Options | undefined): Joined => {
      if (calls.stopping) throw stopping();
      const { source, group: name } = groupName(options);
      const slots = options?.getBufferSize() ?? 0;
      if (slots < 1) throw invalidArgument('The buffer size must be at least 1.');
      const group = groups.find(source, name);
      if (!group) throw groupFailure('does-not-exist', source, name);
      if (group.isFull) throw groupFailure('full', source, name);
      const open = groups.all().reduce((sum, { connected }) => sum + connected.length, 0);
      if (open >= limits.maxSubscriptions) {
        throw resourceExhausted(
          `The limit of ${String(limits.maxSubscriptions)} concurrent subscriptions is reached.`,
        );
      }
      const structuredIds = options?.getUuidOption()?.hasStructured() === true;
      const id = randomUUID();
      const consumer: Consumer = {
        id,
        from: call.getPeer(),
        connectionName: String(call.metadata.get('connection-name')[0] ?? '<unknown>'),
        username: loginName(call.metadata.get('authorization')[0]),
        slots,
        inFlight: new Map(),
        total: 0,
        ...(group.record.settings.extraStatistics && { times: new DeliveryTimes(() => performance.now()) }),
        // Slots limit the events in flight, so deliveries need not wait for each other.
        deliver: (message) =>
          void outlet.send(encodePersistentEvent(message, structuredIds, message.retries)),
        drop: (error) => {
          outlet.fail(error);
        },
      };
      void outlet.send(encodeConfirmation(id));
      group.connect(consumer);
      return { group, consumer };
    };

    const take = (message: ReadReq): void => {
      if (!joined) {
        joined = join(message.getOptions());
        return;
      }
      const { group, consumer } = joined;
      const ack = message.getAck();
      const nack = message.getNack();
      if (ack) group.ack(consumer, ack.getIdsList().map(uuidText));
      else if (nack) {
        group.nack(consumer, nack.getIdsList().map(uuidText), actionOf(nack), nack.getReason());
      } else throw invalidArgument('A call joins a group once; later messages must be acks or nacks.');
    };

    const leave = (): void => {
      joined?.group.disconnect(joined.consumer);
    };

    call.on('data', (message: ReadReq) => {
      if (outlet.closed) return;
      try {
        take(message);
      } catch (error) {
        leave();
        outlet.fail(error);
      }
    });
    call.on('end', () => {
      leave();
      outlet.end();
    });
    for (const event of ['cancelled', 'close', 'error'] as const) call.on(event, leave);
  };
