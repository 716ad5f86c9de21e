// Before @peculiar/x509, which needs it.
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { KeyObject, webcrypto } from 'node:crypto';

export interface Identity {
  /** Both in PEM. */
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  readonly name: string;
  /** Milliseconds since the epoch. Default: a day from now. */
  readonly notAfter?: number;
  /** The issuer. Default: self-signed. */
  readonly issuer?: Identity & { readonly name: string };
}

const DAY = 86_400_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate for a name and its subdomains, valid since a day ago, with a new key. It may sign others. */
export const makeCertificate = async ({
  name,
  notAfter = Date.now() + DAY,
  issuer,
}: CertificateOptions): Promise<Identity> => {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const signingKey = issuer
    ? await webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(issuer.key), ALGORITHM, false, [
        'sign',
      ])
    : keys.privateKey;
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${issuer?.name ?? name}`,
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(notAfter),
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { key: String(key), cert: certificate.toString('pem') };
};
