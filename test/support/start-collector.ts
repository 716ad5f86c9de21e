import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly links: number;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The bodies of all received requests, in order. */
  readonly raw: Buffer[];
  stop(): Promise<void>;
}

/** A collector of traces over OTLP (http/protobuf). */
export const startCollector = async (): Promise<Collector> => {
  const spans: CollectedSpan[] = [];
  const raw: Buffer[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      raw.push(body);
      spans.push(...spansOf(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    raw,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/** Fields of a protobuf message by number; varints and fixed numbers are left out. */
const fields = (message: Buffer): Map<number, Buffer[]> => {
  const found = new Map<number, Buffer[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) varint();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else {
      const length = varint();
      found.set(field, [...(found.get(field) ?? []), message.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
};

/** @see https://github.com/open-telemetry/opentelemetry-proto: numbers of the fields */
const spansOf = (request: Buffer): CollectedSpan[] =>
  (fields(request).get(1) ?? []).flatMap((resourceSpans) => {
    const parts = fields(resourceSpans);
    const service = attributesOf(fields(parts.get(1)![0]!).get(1))['service.name'] ?? '';
    return (parts.get(2) ?? []).flatMap((scopeSpans) =>
      (fields(scopeSpans).get(2) ?? []).map((message) => {
        const span = fields(message);
        const hex = (field: number): string => span.get(field)?.[0]?.toString('hex') ?? '';
        return {
          service,
          traceId: hex(1),
          spanId: hex(2),
          parentSpanId: hex(4),
          name: span.get(5)?.[0]?.toString('utf8') ?? '',
          attributes: attributesOf(span.get(9)),
          links: span.get(13)?.length ?? 0,
        };
      }),
    );
  });

const attributesOf = (attributes: readonly Buffer[] = []): Record<string, string> =>
  Object.fromEntries(
    attributes.map((attribute) => {
      const parts = fields(attribute);
      const value = parts.get(2)?.[0];
      return [
        parts.get(1)?.[0]?.toString('utf8') ?? '',
        (value && fields(value).get(1)?.[0]?.toString('utf8')) ?? '',
      ];
    }),
  );
