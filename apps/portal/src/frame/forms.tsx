import { randomUUID } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { named } from '../texts/texts.js';
import type { ApiProblem } from './api.js';
import { ShownContext, useShown } from './context.js';

/** The key of a form: the same again after a refusal, as the first request may have done its work. */
const keyOf = (failed: ReturnType<typeof useShown>['failed']): string =>
  failed && failed.refused.problem.code !== 'idempotency_key_reused' ? failed.form.key : randomUUID();

/**
 * A form that asks for an action of its page. The page shows it again with what was typed when the API refuses it.
 */
export const PostForm = ({
  action,
  about,
  submit,
  isGrave,
  asks,
  children,
}: {
  readonly action: string;
  /** Which of several things on the page it is about; the action reads it by this name. */
  readonly about?: string;
  readonly submit: string;
  /** What it does cannot be undone. */
  readonly isGrave?: boolean;
  /** The script asks before the browser sends it. */
  readonly asks?: boolean;
  readonly children?: ComponentChildren;
}) => {
  const { visit, failed } = useShown();
  const isMine = failed?.form.action === action && failed.form.text('about') === (about ?? '');
  const mine = isMine ? failed : undefined;
  return (
    <form method="post" action={visit.path} class="fields" data-confirm={asks && visit.texts.sure(submit)}>
      {mine && <Refusal of={mine.refused} />}
      <input type="hidden" name="action" value={action} />
      <input type="hidden" name="key" value={keyOf(mine)} />
      {about !== undefined && <input type="hidden" name="about" value={about} />}
      <ShownContext.Provider value={{ visit, failed: mine }}>{children}</ShownContext.Provider>
      <button type="submit" class={isGrave ? 'grave' : undefined}>
        {submit}
      </button>
    </form>
  );
};

/** What the API refused, in the person's language. */
export const Refusal = ({ of: { problem, retryAfter } }: { readonly of: ApiProblem }) => {
  const { texts } = useShown().visit;
  const said = (texts.problems as Readonly<Record<string, string>>)[problem.code];
  return (
    <div class="refusal" role="alert">
      <strong>{said ?? (problem.status >= 500 ? texts.problems.internal_error : problem.title)}</strong>
      {retryAfter !== null && <p>{texts.retryAfter(String(retryAfter))}</p>}
      <p class="soft">
        {problem.code}
        {problem.requestId.startsWith('req_') && ` · ${problem.requestId}`}
      </p>
    </div>
  );
};

interface FieldProps {
  readonly name: string;
  /** Where several forms of a page have a field of this name. */
  readonly id?: string;
  readonly label: string;
  readonly hint?: string;
  /** Of the member in the API's request, where it is not `/<name>`. */
  readonly pointer?: string;
}

/** What is wrong with a field, and what was typed into it. */
const useField = (action: string | undefined, { name, pointer = `/${name}` }: FieldProps) => {
  const { visit, failed } = useShown();
  const mine = failed && (action === undefined || failed.form.action === action) ? failed : undefined;
  const error = mine?.refused.problem.errors?.find(
    (one) => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`),
  );
  return {
    typed: mine?.form,
    error: error && named(visit.texts.fieldErrors, error.code, visit.texts.fieldErrors.other),
  };
};

const Described = ({
  name,
  id = name,
  label,
  hint,
  error,
  children,
}: FieldProps & { readonly error: string | undefined; readonly children: ComponentChildren }) => (
  <p class="field">
    <label for={id}>{label}</label>
    {hint && (
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    )}
    {children}
    {error && (
      <span class="error" id={`${id}-error`}>
        {error}
      </span>
    )}
  </p>
);

/** What a screen reader says with a field. */
const described = (id: string, hint: string | undefined, error: string | undefined) => ({
  ...(error && { 'aria-invalid': true }),
  ...((hint ?? error) && {
    'aria-describedby': [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' '),
  }),
});

/** The types of ARIA allow one type of field at a time. */
const asText = (type: string) => ({ type }) as { readonly type: 'text' };

/** A field of one line. */
export const Text = ({
  action,
  value = '',
  type = 'text',
  required,
  autoComplete = 'off',
  ...field
}: FieldProps & {
  readonly action?: string;
  readonly value?: string;
  readonly type?: 'text' | 'date' | 'number' | 'url' | 'datetime-local';
  readonly required?: boolean;
  readonly autoComplete?: string;
}) => {
  const { typed, error } = useField(action, field);
  const { name, id = name, hint } = field;
  return (
    <Described {...field} error={error}>
      <input
        id={id}
        name={name}
        {...asText(type)}
        value={typed?.values.get(name) ?? value}
        {...(required && { required })}
        autocomplete={autoComplete}
        {...described(id, hint, error)}
      />
    </Described>
  );
};

/** Several lines. */
export const Lines = ({
  action,
  value = '',
  ...field
}: FieldProps & { readonly action?: string; readonly value?: string }) => {
  const { typed, error } = useField(action, field);
  const { name, id = name, hint } = field;
  return (
    <Described {...field} error={error}>
      <textarea id={id} name={name} rows={3} {...described(id, hint, error)}>
        {typed?.values.get(name) ?? value}
      </textarea>
    </Described>
  );
};

/** One of several, each with its words. */
export const Choice = ({
  action,
  value,
  options,
  ...field
}: FieldProps & {
  readonly action?: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}) => {
  const { typed, error } = useField(action, field);
  const { name, id = name, hint } = field;
  const chosen = typed?.values.get(name) ?? value;
  return (
    <Described {...field} error={error}>
      <select id={id} name={name} {...described(id, hint, error)}>
        {options.map(([one, label]) => (
          <option value={one} selected={one === chosen}>
            {label}
          </option>
        ))}
      </select>
    </Described>
  );
};

/** Any of several. */
export const Checks = ({
  action,
  values,
  options,
  ...field
}: FieldProps & {
  readonly action?: string;
  readonly values: readonly string[];
  readonly options: readonly (readonly [value: string, label: string])[];
}) => {
  const { typed, error } = useField(action, field);
  const { name, id = name, label, hint } = field;
  const chosen = typed?.all(name) ?? values;
  return (
    <fieldset class="field" {...described(id, hint, error)}>
      <legend>{label}</legend>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {options.map(([one, text]) => (
        <label class="check">
          <input type="checkbox" name={name} value={one} checked={chosen.includes(one)} />
          {text}
        </label>
      ))}
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </fieldset>
  );
};

/** A form that changes what the page shows, in its address. */
export const Filters = ({ children }: { readonly children: ComponentChildren }) => {
  const { visit } = useShown();
  return (
    <form method="get" action={visit.path} class="filters" role="search">
      {children}
      <button type="submit">{visit.texts.filter}</button>
      {visit.query.size > 0 && <a href={visit.path}>{visit.texts.clearFilters}</a>}
    </form>
  );
};
