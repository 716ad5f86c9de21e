import type { ReadingPage } from '@reading-service/client';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { instantOf } from '../frame/form.js';
import { Choice, Filters, Text } from '../frame/forms.js';
import type { Page, Visit } from '../frame/page.js';
import { Pager } from '../frame/parts.js';
import { ReadingsTable } from './readings-table.js';

const STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
const ROWS = 25;

/** An id of the customer's own can name a person: only who may see persons searches for one. */
const find = ({ api, query, may }: Visit): Promise<ReadingPage> =>
  api.get('/readings', {
    limit: ROWS,
    status: query.get('status') ?? '',
    externalId: may(PERSONS_SCOPE) ? (query.get('externalId') ?? '') : '',
    createdSince: instantOf(query.get('since') ?? ''),
    createdUntil: instantOf(query.get('until') ?? ''),
    cursor: query.get('cursor') ?? '',
  });

export const readingsPage: Page = {
  path: '/readings',
  area: 'readings',
  needs: 'readings:read',
  show: async (visit, failed) => {
    const { texts, query } = visit;
    const { data, nextCursor } = failed ? { data: [], nextCursor: null } : await find(visit);
    const statuses = STATUSES.map((status) => [status, texts.states[status]] as const);
    return {
      title: texts.readings.title,
      body: (
        <>
          {visit.may('readings:write') && (
            <p>
              <a href="/portal/readings/new">{texts.readings.order}</a>
            </p>
          )}
          <Filters>
            <Choice
              name="status"
              label={texts.readings.status}
              value={query.get('status') ?? ''}
              options={[['', texts.all], ...statuses]}
            />
            {visit.may(PERSONS_SCOPE) && (
              <Text
                name="externalId"
                label={texts.readings.externalId}
                value={query.get('externalId') ?? ''}
              />
            )}
            {(['since', 'until'] as const).map((name) => (
              <Text
                name={name}
                pointer={name === 'since' ? '?createdSince' : '?createdUntil'}
                type="datetime-local"
                label={texts.readings[name]}
                value={query.get(name) ?? ''}
              />
            ))}
          </Filters>
          <ReadingsTable caption={texts.readings.caption} rows={data} />
          <Pager next={nextCursor} />
        </>
      ),
    };
  },
};
