import { ProtobufWriter } from './protobuf-writer.js';

/** A read of one stream, or of the log (`stream: null`). Source: streams.proto of EventStoreDB and KurrentDB. */
export interface ReadRequest {
  readonly stream: string | null;
  /** Revision or commit position of the first event; of a subscription, of the last one not to send. */
  readonly from: bigint | 'start' | 'end';
  readonly backwards?: boolean;
  /** `subscription`: the answer does not end, and the first message confirms it. */
  readonly count: number | 'subscription';
  readonly filter?: ReadFilter;
}

/** Of a read of the log, by the names of streams or by the types of events. */
export interface ReadFilter {
  readonly on: 'stream' | 'type';
  /** The server knows both kinds; it takes one of them. */
  readonly by: { readonly regex: string } | { readonly prefixes: readonly string[] };
  /** Events that the server looks at before it looks whether the call still stands. Default: no limit. */
  readonly searchWindow?: number;
}

const REQUEST = { options: 1 } as const;
const OPTIONS = {
  stream: 1,
  all: 2,
  direction: 3,
  count: 5,
  subscription: 6,
  filter: 7,
  noFilter: 8,
  idOption: 9,
} as const;
const STREAM = { identifier: 1, revision: 2, start: 3, end: 4 } as const;
const IDENTIFIER_NAME = 3;
const ALL = { position: 1, start: 2, end: 3 } as const;
const POSITION = { commit: 1, prepare: 2 } as const;
const FILTER = { stream: 1, type: 2, window: 3, noWindow: 4, checkpointInterval: 5 } as const;
const EXPRESSION = { regex: 1, prefix: 2 } as const;
const ID_AS_TEXT = 2;

/** One checkpoint for each window that the server has looked through. */
const CHECKPOINT_INTERVAL = 1;

/** Most requests are shorter. */
const USUAL_BYTES = 256;

/** @returns an encoded `ReadReq`. Ids come back as text, and links as they are. */
export const encodeReadRequest = (request: ReadRequest): Buffer => {
  const { stream, from, backwards = false, count, filter } = request;
  const writer = new ProtobufWriter(USUAL_BYTES);
  writer.message(REQUEST.options, () => {
    writer.message(OPTIONS.idOption, () => writer.message(ID_AS_TEXT));
    if (filter) writeFilter(writer, filter);
    else writer.message(OPTIONS.noFilter);
    if (count === 'subscription') writer.message(OPTIONS.subscription);
    else writer.varint(OPTIONS.count, count);
    if (backwards) writer.varint(OPTIONS.direction, 1);
    if (stream === null) writer.message(OPTIONS.all, () => writeAll(writer, from));
    else writer.message(OPTIONS.stream, () => writeStream(writer, stream, from));
  });
  return writer.done();
};

const writeAll = (writer: ProtobufWriter, from: ReadRequest['from']): void => {
  if (typeof from !== 'bigint') return writer.message(ALL[from]);
  writer.message(ALL.position, () => {
    writer.varint(POSITION.prepare, from);
    writer.varint(POSITION.commit, from);
  });
};

const writeStream = (writer: ProtobufWriter, stream: string, from: ReadRequest['from']): void => {
  if (typeof from === 'bigint') writer.varint(STREAM.revision, from);
  else writer.message(STREAM[from]);
  writer.message(STREAM.identifier, () => writer.text(IDENTIFIER_NAME, stream));
};

const writeFilter = (writer: ProtobufWriter, { on, by, searchWindow }: ReadFilter): void => {
  writer.message(OPTIONS.filter, () => {
    writer.varint(FILTER.checkpointInterval, CHECKPOINT_INTERVAL);
    if (searchWindow === undefined) writer.message(FILTER.noWindow);
    else writer.varint(FILTER.window, searchWindow);
    writer.message(FILTER[on], () => {
      if ('regex' in by) writer.text(EXPRESSION.regex, by.regex);
      else for (const prefix of by.prefixes.toReversed()) writer.text(EXPRESSION.prefix, prefix);
    });
  });
};
