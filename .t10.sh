scripts/link_python_package >/dev/null 2>&1
timeout 130 .venv/bin/python -m pytest tests/python/view/view_window_test.py tests/python/view/view_faults_test.py tests/python/view/view_compare_test.py tests/python/view/view_ros_test.py -n 2 -q 2>&1 | tail -14
