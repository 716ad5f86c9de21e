import { displayName, type Locale } from '#numerology/index.js';
import { type FailureCode, failureView } from '../contracts/events.js';
import type { ReadingStatus } from '../contracts/queries.js';

/** What a request specifies besides the input. */
export interface RequestedFields {
  readonly productId: string;
  readonly profileId: string;
  readonly locale: Locale;
}

/** Picks these fields from an object that has them. */
export const requestedFields = ({ productId, profileId, locale }: RequestedFields): RequestedFields => ({
  productId,
  profileId,
  locale,
});

/** What the caller sent, unchanged. Sealed wherever it is stored. */
export interface ReadingInput {
  readonly name: {
    readonly firstNames: readonly string[];
    readonly middleNames: readonly string[];
    readonly lastNames: readonly string[];
  };
  readonly dateOfBirth: string;
  readonly grammaticalProfile: { readonly subjectGender: string };
  /** The caller's own name for the reading, and notes on it; absent when none were sent. */
  readonly externalId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Everything the reading resource shows except its input. */
export interface ReadingRecord extends RequestedFields {
  readonly readingId: string;
  readonly workspaceId: string;
  /** False for a test reading. */
  readonly livemode: boolean;
  readonly status: ReadingStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
  readonly erasedAt: string | null;
  readonly failure: { readonly code: FailureCode; readonly occurredAt: string } | null;
  readonly document: {
    readonly version: number;
    readonly artifactId: string;
    readonly publishedAt: string;
  } | null;
}

/** A reading as lists show it: without the person. */
export const readingSummaryView = (record: ReadingRecord, input: ReadingInput | null) => {
  const { input: _, ...view } = readingView(record, input);
  return view;
};

const personView = ({ name, dateOfBirth, grammaticalProfile }: ReadingInput) => ({
  name,
  dateOfBirth,
  grammaticalProfile,
  displayName: displayName(name),
});

/** The Reading resource of the interface. `input` is `null` once the personal data was erased. */
export const readingView = (record: ReadingRecord, input: ReadingInput | null) => {
  // Publications of an erased reading can no longer be read.
  const document = record.erasedAt === null ? record.document : null;
  return {
    readingId: record.readingId,
    workspaceId: record.workspaceId,
    livemode: record.livemode,
    status: record.status,
    ...requestedFields(record),
    externalId: input?.externalId ?? null,
    metadata: input?.metadata ?? null,
    input: input && personView(input),
    document: {
      available: document !== null,
      version: document?.version ?? null,
      artifactId: document?.artifactId ?? null,
      publishedAt: document?.publishedAt ?? null,
    },
    error: record.failure && failureView(record.failure.code, record.failure.occurredAt),
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    completedAt: record.completedAt,
    erasedAt: record.erasedAt,
  };
};

export type ReadingView = ReturnType<typeof readingView>;
