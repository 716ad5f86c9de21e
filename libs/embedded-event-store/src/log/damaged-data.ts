/**
 * Raised when stored bytes do not match their checksum, or contradict other stored bytes: the disk or a program damaged
 * the data file. The message names what is damaged.
 */
export class DamagedDataError extends Error {}

/** What LMDB says of pages that contradict each other. */
const LMDB_DAMAGE = /MDB_(?!MAP_FULL|MAP_RESIZED|READERS_FULL)|^Invalid key size/;

/** The message of such an error, with the data file in it. */
export const describeDamage = (file: string, { message }: Error): string =>
  `The data file ${file} is damaged: ${message}`;

/** Whether an error means damage of the data file. A damaged length makes decoding leave its buffer. */
export const isDamage = (error: unknown): error is Error =>
  error instanceof DamagedDataError ||
  error instanceof RangeError ||
  (error instanceof Error && LMDB_DAMAGE.test(error.message));
