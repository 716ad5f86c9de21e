import { setTimeout as delay } from 'node:timers/promises';
import { Client, Metadata } from '@grpc/grpc-js';
import { readAddress } from '@app/event-sourcing/store/address.js';
import { ProtobufFields } from '@app/event-sourcing/store/protobuf-fields.js';

/** The embedded store's figure; a real EventStoreDB reports its own over HTTP. */
const EMBEDDED_FIGURE = 'es-grpc-openCalls';
const ANSWER_WITHIN_MS = 20_000;
const STATS = '/event_store.client.monitoring.Monitoring/Stats';
/** `refresh_time_period_in_ms` (4): 60,000. */
const REQUEST = Buffer.from([0x20, 0xe0, 0xd4, 0x03]);

/** A real store counts the call that asks for the embedded figure, until a moment after its end. So it is asked once. */
const real = new Set<string>();
const MOMENT_MS = 500;

/**
 * The number of open calls on an event store, of all clients, without this call. Uses `Monitoring.Stats` of the
 * embedded store, and `GET /metrics` of a real EventStoreDB (without TLS).
 */
export const openCalls = async (connectionString: string): Promise<number> => {
  const url = new URL(connectionString.replace(/^esdb(\+discover)?:/, 'http:'));
  if (!real.has(url.host)) {
    const figure = await ofEmbedded(connectionString, url);
    if (figure !== null) return figure;
    real.add(url.host);
    await delay(MOMENT_MS);
  }
  return ofReal(url);
};

/** Of a message with entries of text by text. */
const entryOf = (message: Buffer, wanted: string): string | undefined => {
  for (const entries = new ProtobufFields(message); entries.next();) {
    const entry = entries.inner();
    const [key, value] = [entry.next() && entry.text(), entry.next() && entry.text()];
    if (key === wanted && value !== false) return value;
  }
  return undefined;
};

/** Without a client: only one of them knows this service. */
const ofEmbedded = async (
  connectionString: string,
  { host, username, password }: URL,
): Promise<number | null> => {
  const channel = new Client(host, readAddress(connectionString).credentials());
  const login = new Metadata();
  if (username !== '') login.set('authorization', `Basic ${btoa(`${username}:${password}`)}`);
  const asIs = (bytes: Buffer): Buffer => bytes;
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const call = channel.makeServerStreamRequest(STATS, asIs, asIs, REQUEST, login, { deadline });
  try {
    for await (const answer of call as AsyncIterable<Buffer>) {
      const figure = entryOf(answer, EMBEDDED_FIGURE);
      return figure === undefined ? null : Number(figure) - 1;
    }
    return null;
  } finally {
    call.cancel();
    channel.close();
  }
};

const ofReal = async ({ host }: URL): Promise<number> => {
  const response = await fetch(`http://${host}/metrics`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  const [, figure] =
    /^eventstore_current_incoming_grpc_calls\S* (\d+)|eventstore_incoming_grpc_calls\{[^}]*kind="current"[^}]*\} (\d+)/m.exec(
      await response.text(),
    ) ?? [];
  if (figure === undefined) throw new Error('This event store does not report its open calls');
  return Number(figure);
};
