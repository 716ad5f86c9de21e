import { randomUUID } from 'node:crypto';

/** What a person typed. */
export class Form {
  constructor(readonly values: URLSearchParams) {}

  /** Which of the page's actions it asks for. */
  get action(): string {
    return this.text('action');
  }

  /** Made with the form, so that sending it twice does its work once. */
  get key(): string {
    return this.text('key') || randomUUID();
  }

  /** Trimmed; empty when the field is absent. */
  text(name: string): string {
    return (this.values.get(name) ?? '').trim();
  }

  /** The values of check boxes. */
  all(name: string): readonly string[] {
    return this.values.getAll(name);
  }

  /** `undefined` for an empty field, which the API takes as not sent. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** A whole number; `undefined` for an empty field. What is no number stays text, for the API to refuse. */
  number(name: string): number | string | undefined {
    const text = this.text(name);
    return text === '' ? undefined : /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }

  /** RFC 3339 of a `datetime-local` in UTC. What is none stays as it is, for the API to refuse. */
  instant(name: string): string | undefined {
    return instantOf(this.text(name)) || undefined;
  }

  /** The lines of a text area, without empty ones. */
  lines(name: string): readonly string[] {
    return this.text(name)
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter(Boolean);
  }
}

/** A browser gives minutes; the API takes RFC 3339. */
export const instantOf = (typed: string): string =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(typed) ? `${typed}:00Z` : typed;

/** More than any form of the portal has. A page that shows a form again would be many times as long as a body of fields. */
const MOST_FIELDS = 100;
const MEDIA_TYPE = 'application/x-www-form-urlencoded';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @returns `null` for a body that no form of the portal sends */
export const readForm = (body: unknown, mediaType: string | undefined): Form | null => {
  if (mediaType?.split(';')[0]?.trim().toLowerCase() !== MEDIA_TYPE) return null;
  try {
    const values = new URLSearchParams(Buffer.isBuffer(body) ? utf8.decode(body) : '');
    return values.size > MOST_FIELDS ? null : new Form(values);
  } catch {
    return null;
  }
};
