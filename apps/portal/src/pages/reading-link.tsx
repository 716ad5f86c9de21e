import type { Visit } from '../frame/page.js';

type Props = Pick<Visit, 'texts' | 'may'> & { readonly of: string | undefined; readonly isShort?: true };

/** A reading that something is about: a link for a session that may see readings. */
export const ReadingLink = ({ texts, may, of, isShort }: Props) => {
  if (of === undefined) return <span class="soft">{texts.none}</span>;
  const id = <code>{isShort ? of.slice(0, 8) : of}</code>;
  return may('readings:read') ? <a href={`/portal/readings/${of}`}>{id}</a> : id;
};
