import { parseInstant } from '#platform/http/instant.js';
import { invalidRequest, type FieldError } from '#platform/http/problem.js';
import { parameterPointer } from '#platform/http/query-parameters.js';
import { READING_STATUSES } from '../contracts/queries.js';
import { externalIdFault } from './reference-rules.js';
import type { ListFilters } from '../read-models/reading/select-page.js';

type Given = { readonly [F in keyof ListFilters]: string | undefined };

/** @throws Problem validation_failed with every filter at fault */
export const readFilters = ({ status, externalId, createdSince, createdUntil }: Given): ListFilters => {
  const errors: FieldError[] = [];
  const refuse = (name: keyof ListFilters, detail: string): null => {
    errors.push({ pointer: parameterPointer(name), code: 'invalid_value', detail });
    return null;
  };
  const instantOf = (name: keyof ListFilters, text: string | undefined): string | null =>
    text === undefined
      ? null
      : (parseInstant(text) ?? refuse(name, 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z'));
  const fault = externalId === undefined ? null : externalIdFault(externalId);
  const filters = {
    status:
      status === undefined
        ? null
        : (READING_STATUSES.find((one) => one === status) ??
          refuse('status', `must be one of ${READING_STATUSES.join(', ')}`)),
    externalId: fault ? refuse('externalId', fault.detail) : (externalId ?? null),
    createdSince: instantOf('createdSince', createdSince),
    createdUntil: instantOf('createdUntil', createdUntil),
  };
  const { createdSince: since, createdUntil: until } = filters;
  if (since !== null && until !== null && since >= until)
    refuse('createdUntil', 'must be after createdSince');
  if (errors.length > 0) throw invalidRequest(errors);
  return filters;
};
