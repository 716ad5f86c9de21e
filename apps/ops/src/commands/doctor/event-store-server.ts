import { once } from 'node:events';
import { request as askInClear, type IncomingMessage } from 'node:http';
import { request as askOverTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { hostOf, readAddress, type StoreAddress } from '#event-sourcing/store/address.js';
import type { Role } from '#event-sourcing/store/connection.js';
import { MOST_APPEND_BYTES } from '#event-sourcing/store/defaults.js';

/** Long enough for a busy node: one that is only slow must not be reported as absent. */
const ANSWER_WITHIN_MS = 5_000;

const info = z.object({ esVersion: z.string() });
const options = z.array(z.object({ name: z.string(), value: z.string() }));

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
 * Asks one node of an EventStoreDB or KurrentDB over HTTP. It shows its options to operators only. The embedded store says
 * nothing. The login is sent over TLS only.
 * @param node `host:port`
 */
export const askServer = async (url: string, node = readAddress(url).nodes[0]!): Promise<ServerFacts> => {
  const ask = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
    try {
      return schema.parse(JSON.parse(await textAt(url, node, path)));
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

/** Trusts what the address trusts, which `fetch` cannot. */
const textAt = async (url: string, node: string, path: string): Promise<string> => {
  const address = readAddress(url);
  const [, login] = /^[^:]+:\/\/([^@/?]*)@/.exec(url) ?? [];
  const ask = address.usesTls ? askOverTls : askInClear;
  const request = ask({
    host: hostOf(node),
    port: Number(/\d+$/.exec(node)![0]),
    path,
    agent: false,
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(address.usesTls && address.tls()),
    ...(address.usesTls && login && { auth: decodeURIComponent(login) }),
  }).end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return text(answer);
};

/** The nodes of a cluster, as they answer now. */
export interface ClusterFacts {
  readonly leader: string | null;
  readonly followers: readonly string[];
  readonly silent: readonly string[];
}

/** `null`: the address names one node. */
export const askCluster = async (url: string): Promise<ClusterFacts | null> => {
  const address = readAddress(url);
  if (!address.isCluster) return null;
  const roles = await Promise.all(
    address.nodes.map(async (node) => ({ node, role: await roleOf(address, node) })),
  );
  const those = (wanted: boolean | null) =>
    roles.filter(({ role }) => (role?.leads ?? null) === wanted).map(({ node }) => node);
  const named = roles.flatMap(({ role }) => (role?.leads === false ? [role.leader] : []));
  const silent = those(null);
  const leader = those(true)[0] ?? named.find((node) => !silent.includes(node)) ?? null;
  return { leader, followers: those(false), silent };
};

/** `null`: it gives no answer. */
const roleOf = async (address: StoreAddress, node: string): Promise<Role | null> => {
  // Imported only here: most commands start sooner without the client.
  const { askRole } = await import('#event-sourcing/store/connection.js');
  const { StoreClient } = await import('#event-sourcing/store/store-client.js');
  const client = new StoreClient(address, node);
  try {
    return await askRole(client, ANSWER_WITHIN_MS);
  } catch {
    return null;
  } finally {
    await client.close();
  }
};

export const describeCluster = ({ leader, followers, silent }: ClusterFacts): string =>
  [
    leader === null ? 'no node leads' : `${leader} leads`,
    followers.length === 0 ? 'no followers' : `followers ${followers.join(', ')}`,
    ...(silent.length === 0 ? [] : [`no answer from ${silent.join(', ')}`]),
  ].join('; ');

/** EventStoreDB has been KurrentDB since version 25. */
export const nameOfServer = (version: string): string =>
  `${Number.parseInt(version) < 25 ? 'EventStoreDB' : 'KurrentDB'} ${version}`;

/** For a line of the doctor. */
export const describeServer = ({ version, appendBytes, eventBytes }: ServerFacts): string => {
  if (version === null) return 'reachable, version unknown';
  const event = eventBytes === null ? '' : `, ${eventBytes} in one event`;
  const limits =
    appendBytes === null ? 'limits not shown to this login' : `takes ${appendBytes} bytes in one append`;
  return `${nameOfServer(version)}, ${limits}${event}`;
};

/** Whether the server refuses appends that the service sends. */
export const isTooNarrow = ({ appendBytes, eventBytes }: ServerFacts): boolean =>
  Math.min(appendBytes ?? Infinity, eventBytes ?? Infinity) < MOST_APPEND_BYTES;
