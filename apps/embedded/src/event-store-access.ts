import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { selfSignedCertificate } from './certificate.js';
import type { DataFolder } from './data-folder.js';
import { writePrivateFile } from './private-file.js';

/** Host name in the certificate, which clients verify. The store listens on 127.0.0.1 only. */
const HOST = 'localhost';
const LOGIN = 'reading-service';

const DAY_MS = 86_400_000;
/** A certificate is valid for one run of the stack, and a run can take arbitrarily long. */
const VALID_MS = 10 * 365 * DAY_MS;

/** The files that make the event store require a login over TLS, and the URL with which clients pass both. */
export interface EventStoreAccess {
  readonly certificate: string;
  readonly key: string;
  readonly login: string;
  urlAt(port: number): string;
}

/** Creates a certificate and a login. They are new at each start, so nothing must be kept, rotated or upgraded. */
export const newAccess = async (folder: DataFolder): Promise<EventStoreAccess> => {
  const files = {
    certificate: join(folder.eventStoreAccess, 'server.crt'),
    key: join(folder.eventStoreAccess, 'server.key'),
    login: join(folder.eventStoreAccess, 'login'),
  };
  const now = Date.now();
  const { cert, key } = await selfSignedCertificate({
    name: HOST,
    // The clock of a machine that sleeps may be set back.
    from: new Date(now - DAY_MS),
    until: new Date(now + VALID_MS),
  });
  const password = randomBytes(24).toString('base64url');
  writePrivateFile(files.certificate, cert);
  writePrivateFile(files.key, key);
  writePrivateFile(files.login, `${LOGIN}:${password}\n`);
  const trusted = encodeURIComponent(files.certificate);
  return {
    ...files,
    urlAt: (port) => `esdb://${LOGIN}:${password}@${HOST}:${port}?tls=true&tlsCAFile=${trusted}`,
  };
};
