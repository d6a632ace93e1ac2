"""The explorer: a run in the browser, served from this machine and asking nothing of any other.

======================  =========================================================================================
``limits``              how much a visitor may ask for
``work``                one thread for the model, and a queue that ends
``opened_run``          a model with its data; what is typed becomes what it takes
``answer``              a reasoning as numbers and pictures
``what_changed``        two reasonings: what an edit did
``molecule_edit``       a molecule without one of its atoms
``row_set``             rows of the table
``download``            rows as CSV and as a workbook with pictures
``embedding_map``       graphs and prototypes in the plane
``prototype_sheet``     every prototype, and where it occurs
``run_card``            a run in the words of the page
``visits``            what is remembered of a visitor
``explorer``            all of it, for one visit, without HTTP
``requests``            what a request may say
``guard``               who is let in
``app``, ``server``     addresses and answers; listening
``vendor``              browser code of others, fetched when the package is built
``static``              the page: HTML, CSS and modules of JavaScript, served as they are
======================  =========================================================================================
"""

__all__: list[str] = []
