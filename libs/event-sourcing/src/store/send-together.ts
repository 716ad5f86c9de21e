import type { Writable } from 'node:stream';
import type { ClientDuplexStream } from '@grpc/grpc-js';

/** What grpc-js's types do not show of a call: its layers, down to the stream of HTTP/2. */
interface CallInternals {
  readonly call?: {
    readonly call?: {
      readonly child?: {
        /** `null` as long as the call may be tried again on another connection. */
        readonly committedCallIndex?: number | null;
        readonly underlyingCalls?: readonly {
          readonly call?: { readonly child?: { readonly http2Stream?: Writable } | null };
        }[];
      } | null;
    };
  };
}

/** The stream of HTTP/2 to which a call is bound. The first answer binds it. */
const boundStream = (call: object): Writable | undefined => {
  const child = (call as CallInternals).call?.call?.child;
  const index = child?.committedCallIndex;
  return index === undefined || index === null
    ? undefined
    : child?.underlyingCalls?.[index]?.call?.child?.http2Stream;
};

/** Before each message: a byte for its compression, and its length. Source: gRPC over HTTP2, Length-Prefixed-Message. */
const HEAD_BYTES = 5;

const framed = (messages: readonly Buffer[]): Buffer => {
  const size = messages.reduce((sum, { length }) => sum + HEAD_BYTES + length, 0);
  const frames = Buffer.allocUnsafe(size);
  let at = 0;
  for (const message of messages) {
    frames[at] = 0;
    frames.writeUInt32BE(message.length, at + 1);
    message.copy(frames, at + HEAD_BYTES);
    at += HEAD_BYTES + message.length;
  }
  return frames;
};

/**
 * Sends messages of a call in one write to its connection. grpc-js sends each alone, and the next one a turn of the event
 * loop later. Before the call's first answer, and when grpc-js has other layers, it does so here too.
 */
export const sendTogether = (
  call: ClientDuplexStream<Buffer, unknown>,
  messages: readonly Buffer[],
): void => {
  const stream = boundStream(call);
  if (stream && messages.length > 0) stream.write(framed(messages));
  else for (const message of messages) call.write(message);
};
