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

/** @returns an encoded `ReadReq`. Ids come back as text, and links as they are. */
export const encodeReadRequest = ({
  stream,
  from,
  backwards = false,
  count,
  filter,
}: ReadRequest): Buffer => {
  const source =
    stream === null
      ? message(
          OPTIONS.all,
          startOf(from, ALL, (position) => encodePosition(position)),
        )
      : message(
          OPTIONS.stream,
          message(STREAM.identifier, text(IDENTIFIER_NAME, stream)),
          startOf(from, STREAM, (revision) => varint(STREAM.revision, revision)),
        );
  return message(
    REQUEST.options,
    source,
    backwards ? varint(OPTIONS.direction, 1n) : NOTHING,
    count === 'subscription' ? message(OPTIONS.subscription) : varint(OPTIONS.count, BigInt(count)),
    filter ? encodeFilter(filter) : message(OPTIONS.noFilter),
    message(OPTIONS.idOption, message(ID_AS_TEXT)),
  );
};

const startOf = (
  from: ReadRequest['from'],
  fields: { readonly start: number; readonly end: number },
  encode: (at: bigint) => Buffer,
): Buffer => (typeof from === 'bigint' ? encode(from) : message(fields[from]));

const encodePosition = (position: bigint): Buffer =>
  message(ALL.position, varint(POSITION.commit, position), varint(POSITION.prepare, position));

const encodeFilter = ({ on, by, searchWindow }: ReadFilter): Buffer => {
  const expression =
    'regex' in by
      ? [text(EXPRESSION.regex, by.regex)]
      : by.prefixes.map((prefix) => text(EXPRESSION.prefix, prefix));
  return message(
    OPTIONS.filter,
    message(FILTER[on], ...expression),
    searchWindow === undefined ? message(FILTER.noWindow) : varint(FILTER.window, BigInt(searchWindow)),
    varint(FILTER.checkpointInterval, BigInt(CHECKPOINT_INTERVAL)),
  );
};

const NOTHING = Buffer.alloc(0);
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Seven bits to a byte, the lowest first. Source: https://protobuf.dev/programming-guides/encoding/ */
const digits = (value: bigint): number[] => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
};
const varint = (field: number, value: bigint): Buffer =>
  Buffer.from([...digits(BigInt((field << 3) | VARINT)), ...digits(value)]);
const message = (field: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const head = [...digits(BigInt((field << 3) | LENGTH_DELIMITED)), ...digits(BigInt(content.length))];
  return Buffer.concat([Buffer.from(head), content]);
};
const text = (field: number, value: string): Buffer => message(field, Buffer.from(value, 'utf8'));
