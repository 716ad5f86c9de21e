import { z } from 'zod';
import { MOST_APPEND_BYTES } from '@app/event-sourcing/store/defaults.js';

const INFO_WITHIN_MS = 1_000;

const info = z.object({ esVersion: z.string() });
const options = z.array(z.object({ name: z.string(), value: z.string() }));

/** Without TLS, EventStoreDB requires no login and its client sends none. */
export const isOpen = (url: string): boolean => /[?&]tls=false(&|$)/i.test(url);

/** What a server says of itself over HTTP. */
export interface ServerFacts {
  /** `null`: it did not say. */
  readonly version: string | null;
  /** Bytes that one append may carry. `null`: it does not say so to this login. */
  readonly appendBytes: number | null;
  /** Bytes that one event may carry, since KurrentDB 26. `null`: no such limit, or not said. */
  readonly eventBytes: number | null;
}

/**
 * Asks an EventStoreDB or KurrentDB over HTTP, if this process trusts its CA: fetch has no tlsCAFile. It shows its options
 * to operators only. The embedded store says nothing. The login is sent over TLS only.
 */
export const askServer = async (url: string): Promise<ServerFacts> => {
  const { host, username, password } = new URL(url.replace(/^esdb(\+discover)?:/, 'http:'));
  const open = isOpen(url);
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers: Record<string, string> =
    open || username === '' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  const ask = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
    try {
      const signal = AbortSignal.timeout(INFO_WITHIN_MS);
      const answer = await fetch(`${open ? 'http' : 'https'}://${host}${path}`, { signal, headers });
      return schema.parse(await answer.json());
    } catch {
      return null;
    }
  };
  const version = (await ask('/info', info))?.esVersion ?? null;
  const known = version === null ? null : await ask('/info/options', options);
  const bytes = (name: string): number | null => {
    const value = known?.find((option) => option.name === name)?.value;
    return value === undefined ? null : Number(value);
  };
  return { version, appendBytes: bytes('MaxAppendSize'), eventBytes: bytes('MaxAppendEventSize') };
};

/** For a line of the doctor. */
export const describeServer = ({ version, appendBytes, eventBytes }: ServerFacts): string => {
  if (version === null) return 'reachable, version unknown';
  const event = eventBytes === null ? '' : `, ${eventBytes} in one event`;
  const limits =
    appendBytes === null ? 'limits not shown to this login' : `takes ${appendBytes} bytes in one append`;
  return `EventStoreDB ${version}, ${limits}${event}`;
};

/** Whether the server refuses appends that the service sends. */
export const isTooNarrow = ({ appendBytes, eventBytes }: ServerFacts): boolean =>
  Math.min(appendBytes ?? Infinity, eventBytes ?? Infinity) < MOST_APPEND_BYTES;
