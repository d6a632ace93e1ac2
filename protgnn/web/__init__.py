"""The explorer: a run in the browser, served from this machine without requests to any other.

======================  =========================================================================================
``server_limits``       how much a visitor may ask for
``work``                one thread for the model, with a bounded queue
``opened_run``          a model with its data; converts typed text into model input
``answer``              a reasoning as JSON with pictures
``what_changed``        the difference between two reasonings of one model
``molecule_edit``       a molecule without one of its atoms
``row_set``             the rows of the table, and their predictions
``export``              rows as CSV and as a workbook with pictures
``embedding_map``       graphs and prototypes, projected to the plane
``prototype_sheet``     every prototype, and where it occurs
``run_card``            the summary of a run
``visits``              the uploads and edits of each visitor
``visitor_edits``       a visitor's edits of the prototypes
``compare``             two models side by side
``explorer``            all of the above for one visit, without HTTP
``requests``            the schema of a request
``guard``               access: hosts, cookies, tokens
``app``, ``server``     routes; listening
``vendor``              third-party browser code, fetched when the package is built
``static``              the page: HTML, CSS and JavaScript modules, served unchanged
======================  =========================================================================================
"""

__all__: list[str] = []
