import type { ApiKey, ApiKeys, IssuedApiKey, RotatedApiKey } from '@reading-service/client';
import { API_KEY_SCOPES, PERSONS_SCOPE, SHOW_PERSONS } from '#platform/auth/scopes.js';
import { type Page, usePortal, useShown, useVisit } from '../frame/page.js';
import { Checks, Choice, Lines, PostForm, Text } from '../frame/forms.js';
import { Pager, Section, shownOnce, State, Table, Time } from '../frame/parts.js';
import { inWords, named } from '../texts/texts.js';

const ROWS = 25;
const OVERLAPS = ['0', '3600', '86400', '604800'] as const;

type Standing = 'active' | 'revoked' | 'expired';

const standingOf = ({ revokedAt, expiresAt }: ApiKey): Standing => {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
};

export const keysPage: Page = {
  path: '/keys',
  area: 'keys',
  needs: 'keys:write',
  show: async (visit) => {
    const { texts, api, query } = visit;
    const { data, nextCursor } = await api.get<ApiKeys>('/keys', {
      limit: ROWS,
      cursor: query.get('cursor') ?? '',
    });
    return {
      title: texts.keys.title,
      body: (
        <>
          <KeysTable keys={data} />
          <Pager next={nextCursor} />
          <Section title={texts.keys.issue}>
            <IssueForm />
          </Section>
        </>
      ),
    };
  },
  actions: {
    issue: async (visit, form) => {
      const { apiKey } = await visit.api.post<IssuedApiKey>(
        '/keys',
        {
          label: form.optional('label') ?? null,
          scopes: form.all('scopes'),
          networks: form.lines('networks'),
          expiresAt: form.instant('expiresAt') ?? null,
        },
        form.key,
      );
      return shownOnce(visit, visit.texts.keys.issued, visit.texts.keys.key, apiKey);
    },
    rotate: async (visit, form) => {
      const path = `/keys/${encodeURIComponent(form.text('about'))}/rotate`;
      const { apiKey } = await visit.api.post<RotatedApiKey>(
        path,
        { overlapSeconds: form.number('overlapSeconds') },
        form.key,
      );
      return shownOnce(visit, visit.texts.keys.issued, visit.texts.keys.key, apiKey);
    },
    revoke: async ({ api, path }, form) => {
      await api.delete(`/keys/${encodeURIComponent(form.text('about'))}`);
      return { goTo: path, done: 'keyRevoked' };
    },
  },
};

const KeysTable = ({ keys }: { readonly keys: readonly ApiKey[] }) => {
  const { texts } = useVisit();
  return (
    <Table
      caption={texts.keys.caption}
      rows={keys}
      empty={texts.keys.empty}
      columns={[
        [
          texts.keys.key,
          ({ keyId, label }) => (
            <>
              <code>{keyId}</code> <bdi>{label}</bdi>
            </>
          ),
        ],
        [texts.readings.status, (key) => <State of={standingOf(key)} />],
        [texts.keys.scopes, ({ scopes }) => inWords(texts, scopes), 'long'],
        [texts.keys.networks, ({ networks }) => networks.join(', ') || texts.keys.everywhere],
        [texts.keys.lastUsed, ({ lastUsedAt }) => <Time at={lastUsedAt} of="hour" none={texts.never} />],
        [texts.reading.expires, ({ expiresAt }) => <Time at={expiresAt} none={texts.noEnd} />],
        [texts.keys.manage, (key) => standingOf(key) === 'active' && <Manage keyId={key.keyId} />],
      ]}
    />
  );
};

const Manage = ({ keyId }: { readonly keyId: string }) => {
  const {
    visit: { texts },
    failed,
  } = useShown();
  return (
    <details open={failed?.form.text('about') === keyId}>
      <summary>{texts.keys.manage}</summary>
      <PostForm action="rotate" about={keyId} submit={texts.keys.rotate}>
        <Choice
          name="overlapSeconds"
          id={`overlap-${keyId}`}
          label={texts.keys.overlap}
          value="86400"
          options={OVERLAPS.map((seconds) => [seconds, texts.overlaps[seconds]])}
        />
      </PostForm>
      <PostForm action="revoke" about={keyId} submit={texts.keys.revoke} isGrave asks>
        <p class="hint">{texts.keys.revokeHint}</p>
      </PostForm>
    </details>
  );
};

/** Offers what the session may give: never the right to manage keys or to open sessions. */
const IssueForm = () => {
  const { texts, may, session } = usePortal();
  const kept = ['keys:write', 'portal:write', ...(may(PERSONS_SCOPE) ? [] : SHOW_PERSONS)];
  const scopes = API_KEY_SCOPES.filter((one) => may(one) && !kept.includes(one));
  return (
    <PostForm action="issue" submit={texts.keys.issue}>
      <p>{session.mode === 'live' ? texts.keys.liveKey : texts.keys.testKey}</p>
      <Text name="label" label={texts.keys.label} hint={texts.newReading.optional} />
      <Checks
        name="scopes"
        label={texts.keys.scopes}
        values={[]}
        options={scopes.map((scope) => [scope, named(texts.scopes, scope)])}
      />
      <Lines name="networks" label={texts.keys.networks} hint={texts.keys.networksHint} />
      <Text
        name="expiresAt"
        type="datetime-local"
        label={texts.keys.expiresUtc}
        hint={texts.newReading.optional}
      />
    </PostForm>
  );
};
