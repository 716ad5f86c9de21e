export const given = (): void => undefined;
