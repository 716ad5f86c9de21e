import type { DocumentLink, Reading } from '@reading-service/client';
import { Choice, PostForm } from '../frame/forms.js';
import type { Visit } from '../frame/page.js';
import { Count, State, Table, Time } from '../frame/parts.js';

const FORMATS = ['pdf', 'markdown', 'document_v1'] as const;
type Format = (typeof FORMATS)[number];
const LIFETIMES = ['3600', '86400', '604800', '2592000'] as const;

export const isFormat = (text: string): text is Format => (FORMATS as readonly string[]).includes(text);

/** Every version of the document, and what makes another one. */
export const Documents = ({ visit, reading }: { visit: Visit; reading: Reading }) => {
  const { texts, formats, may } = visit;
  const { readingId, document, status, erasedAt } = reading;
  const none = erasedAt !== null ? 'erased' : status === 'failed' ? 'failed' : 'underWay';
  if (!document.available || document.version === null)
    return <p class="empty">{texts.reading.noDocument[none]}</p>;
  const versions = Array.from({ length: document.version }, (_, at) => document.version! - at);
  return (
    <>
      {may('documents:read') ? (
        <Table
          caption={texts.reading.documents}
          rows={versions}
          empty={texts.none}
          columns={[
            {
              head: texts.readings.document,
              cell: (version) => texts.readings.version(formats.number(version)),
            },
            ...FORMATS.map((format) => ({
              head: texts.formats[format],
              cell: (version: number) => (
                <a href={`/portal/readings/${readingId}/document?format=${format}&version=${version}`}>
                  {texts.reading.download}
                  <span class="hidden"> {texts.formats[format]}</span>
                </a>
              ),
            })),
          ]}
        />
      ) : (
        <p class="soft">{texts.reading.documentsHidden}</p>
      )}
      {may('readings:write') && (
        <>
          <p class="hint">{texts.reading.republishHint}</p>
          <PostForm action="republish" submit={texts.reading.republish} />
        </>
      )}
    </>
  );
};

/** Links that need no key: those that exist, and a form for another. */
export const DocumentLinks = ({ visit, links }: { visit: Visit; links: readonly DocumentLink[] }) => {
  const { texts } = visit;
  const { reading } = texts;
  return (
    <>
      <Table
        caption={reading.links}
        rows={links}
        empty={reading.noLinks}
        columns={[
          { head: reading.format, cell: ({ format }) => texts.formats[format] },
          {
            head: texts.readings.status,
            cell: ({ status }) => <State of={status} label={reading.linkStates[status]} />,
          },
          { head: reading.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          { head: reading.uses, isNumber: true, cell: ({ uses }) => <Count of={uses} /> },
          {
            head: reading.revokeLink,
            cell: ({ linkId, status }) =>
              status === 'live' && (
                <PostForm action="revokeLink" about={linkId} submit={reading.revokeLink} />
              ),
          },
        ]}
      />
      <p class="hint">{reading.linkHint}</p>
      <PostForm action="link" submit={reading.createLink}>
        <Choice
          name="format"
          label={reading.format}
          value="pdf"
          options={FORMATS.map((format) => [format, texts.formats[format]])}
        />
        <Choice
          name="expiresInSeconds"
          label={reading.lifetime}
          value="86400"
          options={LIFETIMES.map((seconds) => [seconds, texts.lifetimes[seconds]])}
        />
      </PostForm>
    </>
  );
};
