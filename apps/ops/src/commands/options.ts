import { InvalidArgumentError } from 'commander';

/** A whole number from 1 to 999,999,999. */
export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0');
  return Number(text);
};

/** Text without surrounding space, such as a reference or a reason. */
export const someText = (text: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidArgumentError('must not be empty');
  return trimmed;
};
