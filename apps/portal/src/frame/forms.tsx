import { randomUUID } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { named } from '../texts/texts.js';
import type { ApiProblem } from './api.js';
import { type Failed, ShownContext, useShown } from './page.js';

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
      {visit.place !== undefined && <input type="hidden" name="place" value={visit.place} />}
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
    // The browser shows it even where a table has hidden its form.
    <div class="refusal" role="alert" tabIndex={-1} autofocus>
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

/** What was typed into a field, its hint and what is wrong with it, and what joins these for a screen reader. */
const useField = ({ name, id = name, label, hint, pointer = `/${name}` }: FieldProps) => {
  const { visit, failed } = useShown();
  // Query parameters have pointers of their own.
  const wrong = failed?.refused.problem.errors?.find(
    (one) => [pointer, `?${name}`].includes(one.pointer) || one.pointer.startsWith(`${pointer}/`),
  );
  const remark = (as: 'hint' | 'error', text: string | undefined) =>
    text && (
      <span class={as} id={`${id}-${as}`}>
        {text}
      </span>
    );
  const { fieldErrors } = visit.texts;
  const said = {
    hint: remark('hint', hint),
    error: remark('error', wrong && named(fieldErrors, wrong.code, fieldErrors.other)),
  };
  const describedBy = (['hint', 'error'] as const).filter((one) => said[one]).map((one) => `${id}-${one}`);
  const described = {
    ...(wrong && { 'aria-invalid': true }),
    ...(describedBy.length > 0 && { 'aria-describedby': describedBy.join(' ') }),
  };
  return {
    typed: failed?.form,
    ...said,
    described,
    /** What the control has, in which somebody types. */
    control: { id, name, ...described },
    labelled: (control: ComponentChildren) => (
      <p class="field">
        <label for={id}>{label}</label>
        {said.hint}
        {control}
        {said.error}
      </p>
    ),
  };
};

/** The types of ARIA allow one type of field at a time. */
const asText = (type: string) => ({ type }) as { readonly type: 'text' };

interface TextProps extends FieldProps {
  readonly value?: string;
  readonly type?: 'text' | 'date' | 'number' | 'url' | 'datetime-local';
  readonly required?: boolean;
}

/** A field of one line. */
export const Text = ({ value = '', type = 'text', required, ...props }: TextProps) => {
  const { control, typed, labelled } = useField(props);
  return labelled(
    <input
      {...control}
      {...asText(type)}
      value={typed?.values.get(props.name) ?? value}
      {...(required && { required })}
      autocomplete="off"
    />,
  );
};

/** Several lines. */
export const Lines = ({ value = '', ...props }: FieldProps & { readonly value?: string }) => {
  const { control, typed, labelled } = useField(props);
  return labelled(
    <textarea {...control} rows={3}>
      {typed?.values.get(props.name) ?? value}
    </textarea>,
  );
};

interface Options {
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** One of several, each with its words. */
export const Choice = ({ value, options, ...props }: FieldProps & Options & { readonly value: string }) => {
  const { control, typed, labelled } = useField(props);
  const chosen = typed?.values.get(props.name) ?? value;
  return labelled(
    <select {...control}>
      {options.map(([one, label]) => (
        <option value={one} selected={one === chosen}>
          {label}
        </option>
      ))}
    </select>,
  );
};

/** Any of several. */
export const Checks = ({
  values,
  options,
  ...props
}: FieldProps & Options & { readonly values: readonly string[] }) => {
  const { typed, hint, error, described } = useField(props);
  const chosen = typed?.all(props.name) ?? values;
  return (
    <fieldset class="field" {...described}>
      <legend>{props.label}</legend>
      {hint}
      {options.map(([one, text]) => (
        <label class="check">
          <input type="checkbox" name={props.name} value={one} checked={chosen.includes(one)} />
          {text}
        </label>
      ))}
      {error}
    </fieldset>
  );
};

/** Whether what was refused are the filters of the page, which name no action. */
export const areFilters = (failed: Failed | undefined): boolean => failed?.form.action === '';

/** A form that changes what the page shows, in its address. */
export const Filters = ({ children }: { readonly children: ComponentChildren }) => {
  const { visit, failed } = useShown();
  const mine = areFilters(failed) ? failed : undefined;
  return (
    <form method="get" action={visit.path} class="filters" role="search">
      {mine && <Refusal of={mine.refused} />}
      <ShownContext.Provider value={{ visit, failed: mine }}>{children}</ShownContext.Provider>
      <button type="submit">{visit.texts.filter}</button>
      {visit.query.size > 0 && <a href={visit.path}>{visit.texts.clearFilters}</a>}
    </form>
  );
};
