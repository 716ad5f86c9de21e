export const opened = 'BookOpened';
