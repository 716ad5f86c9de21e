import { displayName } from '#numerology/index.js';
import { failureView } from '../contracts/events.js';
import type { ReadingInput } from '../domain/reading-input.js';
import type { ShownRow } from '../projections.js';

/** A reading as lists show it: without the person. */
export const readingSummaryView = (row: ShownRow, input: ReadingInput | null) => {
  const { input: _, ...view } = readingView(row, input);
  return view;
};

const personView = ({ name, dateOfBirth, grammaticalProfile }: ReadingInput) => ({
  name,
  dateOfBirth,
  grammaticalProfile,
  displayName: displayName(name),
});

/** The Reading resource of the interface. `input` is `null` once the personal data was erased. */
export const readingView = (row: ShownRow, input: ReadingInput | null) => {
  // Publications of an erased reading can no longer be read.
  const available = row.document_version !== null && row.erased_at === null;
  return {
    readingId: row.reading_id,
    workspaceId: row.workspace_id,
    livemode: row.livemode,
    status: row.status,
    productId: row.product_id,
    profileId: row.profile_id,
    locale: row.locale,
    externalId: input?.externalId ?? null,
    metadata: input?.metadata ?? null,
    input: input && personView(input),
    document: {
      available,
      version: available ? row.document_version : null,
      artifactId: available ? row.artifact_id : null,
      publishedAt: available ? row.published_at : null,
    },
    error: row.error_code && row.failed_at ? failureView(row.error_code, row.failed_at) : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    completedAt: row.completed_at,
    erasedAt: row.erased_at,
  };
};

export type ReadingView = ReturnType<typeof readingView>;
