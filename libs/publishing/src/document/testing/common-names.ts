import type { Locale } from '../document.js';

/** The most frequent first and family names of the birth registers of a country, from several decades. */
interface CommonNames {
  readonly feminine: readonly string[];
  readonly masculine: readonly string[];
  readonly last: readonly string[];
}

export const COMMON_NAMES: Readonly<Record<Locale, CommonNames>> = {
  'fr-FR': {
    feminine: [
      'Marie', 'Nathalie', 'Isabelle', 'Sylvie', 'Catherine', 'Martine', 'Christine', 'Françoise', 'Valérie', 'Sandrine',
      'Stéphanie', 'Véronique', 'Sophie', 'Céline', 'Chantal', 'Patricia', 'Anne', 'Julie', 'Monique', 'Aurélie', 'Nicole',
      'Laurence', 'Annie', 'Émilie', 'Camille', 'Léa', 'Manon', 'Emma', 'Chloé', 'Inès', 'Jade', 'Louise', 'Alice', 'Lina',
      'Sarah', 'Laura', 'Pauline', 'Mathilde', 'Charlotte', 'Clara',
    ],
    masculine: [
      'Jean', 'Philippe', 'Michel', 'Alain', 'Patrick', 'Nicolas', 'Christophe', 'Pierre', 'Christian', 'Éric', 'Frédéric',
      'Laurent', 'Stéphane', 'David', 'Pascal', 'Daniel', 'Alexandre', 'Julien', 'Thierry', 'Olivier', 'Bernard', 'Thomas',
      'Sébastien', 'Gérard', 'Didier', 'Dominique', 'Vincent', 'François', 'Bruno', 'Guillaume', 'Jérôme', 'Jacques',
      'Maxime', 'Lucas', 'Hugo', 'Gabriel', 'Raphaël', 'Arthur', 'Louis', 'Antoine',
    ],
    last: [
      'Martin', 'Bernard', 'Thomas', 'Petit', 'Robert', 'Richard', 'Durand', 'Dubois', 'Moreau', 'Laurent', 'Simon',
      'Michel', 'Lefebvre', 'Leroy', 'Roux', 'David', 'Bertrand', 'Morel', 'Fournier', 'Girard', 'Bonnet', 'Dupont',
      'Lambert', 'Fontaine', 'Rousseau', 'Vincent', 'Muller', 'Lefèvre', 'Faure', 'André', 'Mercier', 'Blanc', 'Guérin',
      'Boyer', 'Garnier', 'Chevalier', 'François', 'Legrand', 'Gauthier', 'Garcia', 'Perrin', 'Robin', 'Clément', 'Morin',
    ],
  },
  'en-US': {
    feminine: [
      'Mary', 'Patricia', 'Jennifer', 'Linda', 'Elizabeth', 'Barbara', 'Susan', 'Jessica', 'Sarah', 'Karen', 'Lisa',
      'Nancy', 'Betty', 'Sandra', 'Margaret', 'Ashley', 'Kimberly', 'Emily', 'Donna', 'Michelle', 'Carol', 'Amanda',
      'Melissa', 'Deborah', 'Stephanie', 'Dorothy', 'Rebecca', 'Sharon', 'Laura', 'Cynthia', 'Amy', 'Kathleen', 'Olivia',
      'Emma', 'Sophia', 'Isabella', 'Ava', 'Mia', 'Abigail', 'Madison',
    ],
    masculine: [
      'James', 'Robert', 'John', 'Michael', 'David', 'William', 'Richard', 'Joseph', 'Thomas', 'Christopher', 'Charles',
      'Daniel', 'Matthew', 'Anthony', 'Mark', 'Donald', 'Steven', 'Andrew', 'Paul', 'Joshua', 'Kenneth', 'Kevin', 'Brian',
      'Timothy', 'Ronald', 'Jason', 'George', 'Edward', 'Jeffrey', 'Ryan', 'Jacob', 'Nicholas', 'Gary', 'Eric', 'Jonathan',
      'Liam', 'Noah', 'Ethan', 'Mason', 'Logan',
    ],
    last: [
      'Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Rodriguez', 'Martinez', 'Hernandez',
      'Lopez', 'Gonzalez', 'Wilson', 'Anderson', 'Thomas', 'Taylor', 'Moore', 'Jackson', 'Martin', 'Lee', 'Perez',
      'Thompson', 'White', 'Harris', 'Sanchez', 'Clark', 'Ramirez', 'Lewis', 'Robinson', 'Walker', 'Young', 'Allen',
      'King', 'Wright', 'Scott', 'Torres', 'Nguyen', 'Hill', 'Flores', 'Green', 'Adams', 'Nelson', 'Baker',
    ],
  },
}; // prettier-ignore
