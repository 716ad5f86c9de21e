import type { Writable } from 'node:stream';

/** What grpc-js's types do not show of a streaming call. */
interface CallInternals {
  readonly call: {
    readonly stream?: Writable;
    sendMessage(message: Buffer, done: () => void): void;
  };
  _writev?: (messages: readonly { readonly chunk: Buffer }[], done: () => void) => void;
}

/**
 * Lets messages that wait leave together, in one write to the connection. grpc-js sends each alone and waits until it is
 * written: with TLS, that costs more than reading the event.
 */
export const gatherWrites = (streamingCall: object): void => {
  const internals = streamingCall as CallInternals;
  const { call } = internals;
  internals._writev = (messages, done) => {
    let left = messages.length;
    call.stream?.cork();
    for (const { chunk } of messages) {
      call.sendMessage(chunk, () => {
        left -= 1;
        if (left === 0) done();
      });
    }
    call.stream?.uncork();
  };
};
