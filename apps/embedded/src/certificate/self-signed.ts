import { sign, type KeyObject } from 'node:crypto';
import {
  bitString,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  tagged,
  time,
  utf8String,
  yes,
} from './der.js';

const OIDS = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
} as const;

/** The version field of X.509 v3, the only version with extensions. */
const VERSION_3 = tagged(0xa0, integer(Buffer.of(2)));
/** Tag of a dNSName in the subject alternative names. */
const DNS_NAME = 0x82;
/** digitalSignature, the first bit of key usage; the other seven bits are unused. */
const DIGITAL_SIGNATURE = bitString(Buffer.of(0x80), 7);

export interface CertificateRequest {
  /** An EC key pair on the curve P-256. */
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  /** The DNS name that clients connect to. */
  readonly name: string;
  readonly from: Date;
  readonly until: Date;
  /** 16 random bytes. */
  readonly serial: Uint8Array;
}

/**
 * A self-signed server certificate (X.509 v3, RFC 5280). Clients trust it because they have this exact
 * certificate. It cannot sign others.
 * @returns PEM
 */
export const selfSignedCertificate = ({ keys, name, from, until, serial }: CertificateRequest): string => {
  const algorithm = sequence(objectIdentifier(OIDS.ecdsaWithSha256));
  const subject = sequence(set(sequence(objectIdentifier(OIDS.commonName), utf8String(name))));
  const extensions = sequence(
    extension(OIDS.basicConstraints, sequence(), true),
    extension(OIDS.keyUsage, DIGITAL_SIGNATURE, true),
    extension(OIDS.extendedKeyUsage, sequence(objectIdentifier(OIDS.serverAuthentication))),
    extension(OIDS.subjectAlternativeName, sequence(tagged(DNS_NAME, Buffer.from(name, 'ascii')))),
  );
  const toBeSigned = sequence(
    VERSION_3,
    integer(serial),
    algorithm,
    subject,
    sequence(time(from), time(until)),
    subject,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, extensions),
  );
  const signature = sign('sha256', toBeSigned, keys.privateKey);
  return pem('CERTIFICATE', sequence(toBeSigned, algorithm, bitString(signature)));
};

const extension = (oid: string, value: Uint8Array, critical = false): Buffer =>
  sequence(objectIdentifier(oid), ...(critical ? [yes()] : []), octetString(value));

const pem = (label: string, der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};
