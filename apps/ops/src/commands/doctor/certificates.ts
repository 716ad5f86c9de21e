import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import type { Config } from '../../../../service/src/settings.js';
import { failure, ok, warning, type Finding } from './finding.js';

const CHECK = 'certificates';
const DAY_MS = 86_400_000;
const ANSWER_WITHIN_MS = 3_000;
/** The doctor warns this long before a certificate expires. */
const WARN_DAYS = 30;
const ADVICE = 'Replace it before it expires (docs/operations.md, "Certificates").';

/** A certificate that this program's connections depend on. */
interface Certificate {
  /** Whose it is, for the operator. */
  readonly of: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * When the certificates of both stores expire, with those of their issuers and the files that the addresses name. A store
 * that does not answer is reported by its own check.
 * @param now milliseconds since 1970
 */
export const checkCertificates = async (
  { EVENTSTORE_URL, DATABASE_URL }: Pick<Config, 'EVENTSTORE_URL' | 'DATABASE_URL'>,
  now: number,
): Promise<Finding | readonly Finding[]> => {
  const found = [
    ...(await Promise.all([...eventStoreNodes(EVENTSTORE_URL), ...postgresServer(DATABASE_URL)])).flat(),
    ...namedFiles(EVENTSTORE_URL),
    ...namedFiles(DATABASE_URL),
  ].toSorted((one, other) => one.expiresAt - other.expiresAt);
  const [first] = found;
  if (!first) return ok(CHECK, 'no connection uses TLS');
  const findings = found.flatMap((one) => findingOf(one, now));
  return findings.length > 0 ? findings : ok(CHECK, `the first to expire is ${described(first, now)}`);
};

const findingOf = (one: Certificate, now: number): readonly Finding[] => {
  const message = `the certificate of ${described(one, now)}`;
  if (one.expiresAt <= now) return [failure(CHECK, message, ADVICE)];
  return one.expiresAt - now < WARN_DAYS * DAY_MS ? [warning(CHECK, message, ADVICE)] : [];
};

const described = ({ of, expiresAt }: Certificate, now: number): string => {
  const day = new Date(expiresAt).toISOString().slice(0, 10);
  return expiresAt <= now
    ? `${of}, which expired on ${day}`
    : `${of}, which expires on ${day}, in ${Math.floor((expiresAt - now) / DAY_MS)} days`;
};

const eventStoreNodes = (url: string): readonly Promise<readonly Certificate[]>[] => {
  const [, hosts = '', query = ''] =
    /^esdb(?:\+discover)?:\/\/(?:[^@/]*@)?([^/?]+)\/?\??(.*)$/.exec(url) ?? [];
  if (new URLSearchParams(query).get('tls') === 'false') return [];
  return hosts.split(',').map((node) => {
    const { hostname, port } = new URL(`http://${node}`);
    return served(`the event store at ${hostname}`, hostname, Number(port || 2113), (socket) =>
      Promise.resolve(socket),
    );
  });
};

/** Also of a server that offers TLS only: the address says whether this program uses it. */
const postgresServer = (url: string): readonly Promise<readonly Certificate[]>[] => {
  const { hostname, port, searchParams } = new URL(url);
  const mode = searchParams.get('sslmode') ?? (searchParams.get('ssl') === 'true' ? 'require' : 'disable');
  const host = searchParams.get('host') ?? hostname;
  if (mode === 'disable' || host.startsWith('/')) return [];
  return [served(`PostgreSQL at ${host}`, host, Number(port || 5432), afterSslRequest)];
};

/** PostgreSQL's protocol, SSLRequest: the server answers S and then speaks TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const afterSslRequest = (socket: Socket): Promise<Socket | null> =>
  new Promise((resolve) => {
    socket.once('data', (answer) => resolve(answer.toString('latin1') === 'S' ? socket : null));
    socket.write(SSL_REQUEST);
  });

/** What a server presents, trusted or not; nothing when it does not answer. */
const served = async (
  of: string,
  host: string,
  port: number,
  prepare: (socket: Socket) => Promise<Socket | null>,
): Promise<readonly Certificate[]> => {
  const socket = connectTcp(port, host);
  const timer = setTimeout(() => socket.destroy(), ANSWER_WITHIN_MS);
  try {
    return await new Promise<readonly Certificate[]>((resolve) => {
      const nothing = (): void => resolve([]);
      socket.once('error', nothing).once('close', nothing);
      socket.once('connect', () => {
        void prepare(socket).then((ready) => {
          if (!ready) return nothing();
          // The certificate is only looked at: connections verify it themselves.
          const secure: TLSSocket = connectTls({
            socket: ready,
            servername: host,
            rejectUnauthorized: false,
          });
          secure.once('error', nothing);
          secure.once('secureConnect', () => resolve(chainOf(of, secure.getPeerCertificate(true))));
        });
      });
    });
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
};

const chainOf = (of: string, leaf: DetailedPeerCertificate): readonly Certificate[] => {
  const chain: Certificate[] = [];
  const seen = new Set<string>();
  for (let one = leaf; one?.fingerprint256 && !seen.has(one.fingerprint256); one = one.issuerCertificate) {
    seen.add(one.fingerprint256);
    const issuer =
      chain.length === 0 ? '' : ` (issuer ${[one.subject.CN].flat().join(', ') || 'without a name'})`;
    chain.push({ of: `${of}${issuer}`, expiresAt: Date.parse(one.valid_to) });
  }
  return chain;
};

const FILE_PARAMETERS = ['tlsCAFile', 'userCertFile', 'sslrootcert', 'sslcert'];
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Authorities that an address trusts, and the certificate with which it logs in. */
const namedFiles = (url: string): readonly Certificate[] => {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  return [...query]
    .filter(([name]) => FILE_PARAMETERS.some((known) => known.toLowerCase() === name.toLowerCase()))
    .flatMap(([, file]) => (textOf(file).match(PEM) ?? []).map((pem) => ({ file, pem })))
    .map(({ file, pem }) => ({ of: file, expiresAt: Date.parse(new X509Certificate(pem).validTo) }));
};

/** A file that cannot be read already stops the connection, which has a check of its own. */
const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
