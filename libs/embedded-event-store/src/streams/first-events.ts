import { randomUUID } from 'node:crypto';
import type { StreamWriter } from './stream-writer.js';
import { METADATA_TYPE, metastreamOf } from './stream-metadata.js';

const NOBODY: readonly string[] = [];
const THIRTY_DAYS_S = 30 * 24 * 60 * 60;

/** What EventStoreDB lays down for its list of scavenges before the first event of anyone. */
const SCAVENGES_METADATA = {
  $maxAge: THIRTY_DAYS_S,
  $acl: { $r: '$ops', $w: NOBODY, $d: NOBODY, $mr: NOBODY, $mw: NOBODY },
};

/** Writes the system events with which an EventStoreDB begins, so that its readers meet such events here too. */
export const writeFirstEvents = async (writer: StreamWriter): Promise<void> => {
  await writer.append(metastreamOf('$scavenges'), 'any', [
    {
      id: randomUUID(),
      type: METADATA_TYPE,
      contentType: 'application/json',
      data: Buffer.from(JSON.stringify(SCAVENGES_METADATA)),
      metadata: Buffer.alloc(0),
    },
  ]);
};
