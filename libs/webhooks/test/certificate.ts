import { X509Certificate, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

export interface Identity {
  /** Both in PEM. */
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  readonly name: string;
  /** Milliseconds since the epoch. Default: from a day ago until a day from now. */
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** The issuer. Default: self-signed. */
  readonly issuer?: Identity & { readonly name: string };
}

const DAY = 86_400_000;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const SUBJECT_ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];

/** A certificate for a name and its subdomains, with a new key. It may sign others (X.509 v3, RFC 5280). */
export const makeCertificate = ({
  name,
  notBefore = Date.now() - DAY,
  notAfter = Date.now() + DAY,
  issuer,
}: CertificateOptions): Identity => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(der(0x06, Buffer.from(ECDSA_WITH_SHA256)));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.from([0xff])))),
        extension(SUBJECT_ALTERNATIVE_NAME, sequence(der(0x82, Buffer.from(name)))),
      ),
    ),
  );
  const key: string | KeyObject = issuer?.key ?? privateKey;
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, key)]));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: new X509Certificate(sequence(content, algorithm, signature)).toString(),
  };
};

const der = (tag: number, content: Buffer): Buffer => {
  const { length } = content;
  const header = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const distinguishedName = (name: string): Buffer =>
  sequence(der(0x31, sequence(der(0x06, Buffer.from(COMMON_NAME)), der(0x0c, Buffer.from(name)))));
const extension = (id: readonly number[], value: Buffer): Buffer =>
  sequence(der(0x06, Buffer.from(id)), der(0x04, value));
const time = (at: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
