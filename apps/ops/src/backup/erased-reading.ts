/** A reading that was erased after the backup, or before another one. */
export interface ErasedReading {
  readonly readingId: string;
  readonly workspaceId: string;
}
